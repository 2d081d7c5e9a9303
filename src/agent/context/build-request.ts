import type { Queryable } from '../../db/queries/queryable.js';
import type { TurnFacts } from '../../db/queries/turn-facts.js';
import { ChatError } from '../../errors.js';
import type { ContextReport } from '../../events/context-report.js';
import type { ModelInfo } from '../../model/catalog.js';
import type { ModelRequest, PromptMessage } from '../../model/port.js';
import { estimatePromptTokens, tokensPerMessage, tokensPerReply } from '../../model/tokens.js';
import { callableTools } from '../tools/find-tools.js';
import type { ToolRegistry } from '../tools/registry.js';
import { type Decision, decide, reportHistory } from './decisions.js';
import { verbatimTokens } from './estimate.js';
import type { History } from './history.js';
import { loadRounds } from './load-rounds.js';
import { systemPromptOf } from './pinned.js';
import { planPrompt } from './plan-prompt.js';
import { resolveImages } from './resolve-images.js';
import { messagesOf } from './rounds.js';
import { type SummarySource, summarySource } from './summary-source.js';
import type { TokenCounts } from './token-counts.js';
import { offerTools } from './tool-choice.js';

/** Room for the reply where neither session nor model names a limit. */
const defaultReserve = 4_096;

/** A request with the account of how its prompt was made up. */
export interface BuiltRequest {
  readonly request: ModelRequest;
  readonly report: ContextReport;
  readonly decisions: readonly Decision[];
}

/** Summarises the rounds of a source. Null when that gave nothing. */
export type Summarise = (history: History, source: SummarySource) => Promise<History | null>;

/** Tokens for prompt and tools, beside the room that the reply needs. */
function promptTokens(model: ModelInfo, { maxOutputTokens }: Pick<TurnFacts, 'maxOutputTokens'>): number {
  const wanted = maxOutputTokens ?? model.maxOutputTokens ?? defaultReserve;
  return model.contextWindow - Math.min(wanted, Math.floor(model.contextWindow / 2));
}

function tokensAsWritten({ first, summary, rounds }: History, counts: TokenCounts): number {
  const messages = [...(first ? [first] : []), ...rounds.flatMap(messagesOf)];
  return messages.reduce((sum, message) => sum + verbatimTokens(counts, message), summary?.sourceTokens ?? 0);
}

const imagesOf = ({ first, rounds }: History) =>
  [...(first ? [first] : []), ...rounds.flatMap(messagesOf)].reduce((sum, { images }) => sum + images.length, 0);

const imagesIn = (messages: readonly PromptMessage[]) =>
  messages.reduce((sum, message) => sum + (message.role === 'user' ? message.images.length : 0), 0);

/**
 * The request that a turn's next model call makes: the system prompt first and once, then the history as far as it fits
 * beside the room for the reply, shortened if need be, then the tail. It is made anew for every call.
 *
 * @param tail of the prompt: what stands in no history and is said behind it.
 * @param summarise left out: a summary that is due is not made now.
 * @throws ChatError CONTEXT_OVERFLOW when not even the user's message fits with the last calls of its turn.
 */
export async function buildRequest(
  { db, tools, counts }: { readonly db: Queryable; readonly tools: ToolRegistry; readonly counts: TokenCounts },
  turn: TurnFacts,
  model: ModelInfo,
  tail: readonly PromptMessage[] = [],
  summarise: Summarise | null = null,
): Promise<BuiltRequest> {
  const { sessionId, temperature, maxOutputTokens } = turn;
  const systemPrompt = await systemPromptOf(db, turn);
  const offer = await offerTools(db, turn, callableTools(tools, turn), model, counts);
  const { offered, tokens: toolTokens, available } = offer;
  const system: PromptMessage[] = systemPrompt === '' ? [] : [{ role: 'system', content: systemPrompt }];
  const systemTokens = systemPrompt === '' ? 0 : counts.text(systemPrompt) + tokensPerMessage;
  const tailTokens = estimatePromptTokens(tail) - tokensPerReply;
  const room = promptTokens(model, turn) - systemTokens - toolTokens - tailTokens;

  const loaded = await loadRounds(db, sessionId, room, counts);
  let { history } = loaded;
  // Where the client limits the history, what falls out of it is to be forgotten.
  if (summarise && turn.maxHistory === null) {
    const source = summarySource(history, room, counts, { number: turn.number, attemptedTurn: loaded.attemptedTurn });
    if (source) history = (await summarise(history, source)) ?? history;
  }
  const fitted = history.rounds.length === 0 ? null : planPrompt(history, room, counts);
  if (!fitted) throw new ChatError('CONTEXT_OVERFLOW');
  const decisions = decide(fitted.plan, history);
  const told = reportHistory(fitted.plan, decisions, imagesIn(fitted.messages) < imagesOf(history));
  // Where all is told as it was written, counting it once more would say nothing new.
  const saved = told.strategy === 'PASSTHROUGH' ? 0 : tokensAsWritten(history, counts) - fitted.tokens;
  const historyTokens = fitted.tokens + tailTokens;
  return {
    request: {
      model: model.id,
      messages: [...system, ...(await resolveImages(db, sessionId, fitted.messages)), ...tail],
      tools: offered,
      temperature,
      maxOutputTokens,
    },
    report: {
      ...told,
      windowTokens: model.contextWindow,
      systemTokens,
      toolTokens,
      historyTokens,
      tokensSaved: Math.max(0, saved),
      toolsLoaded: offered.length,
      toolsAvailable: available,
    },
    decisions,
  };
}
