import { type HistoryMessage, loadHistory } from '../../db/queries/load-history.js';
import type { Queryable } from '../../db/queries/queryable.js';
import type { TurnFacts } from '../../db/queries/turn-facts.js';
import { ChatError } from '../../errors.js';
import type { ContextReport } from '../../events/context-report.js';
import type { ModelInfo } from '../../model/catalog.js';
import type { ModelRequest, PromptMessage, PromptTool } from '../../model/port.js';
import { countTokens, estimatePromptTokens, estimateToolTokens } from '../../model/tokens.js';
import { asObject } from '../tools/arguments.js';
import type { ToolRegistry } from '../tools/registry.js';
import { sessionTools } from '../tools/session-tools.js';
import type { Tool } from '../tools/tool.js';

const pageSize = 200;
/** Room for the reply where neither session nor model names a limit. */
const defaultReserve = 4_096;
/** What the protocol adds to every message. */
const messageOverhead = 8;
/** What providers charge for a picture of usual size. */
const imageTokens = 1_000;
/** Images of earlier messages ride along only while all images of the request stay below this. */
const mostImageBytes = 8 * 1024 * 1024;

export interface Prompt {
  readonly messages: readonly PromptMessage[];
  /** Older messages that did not fit into the window. */
  readonly dropped: boolean;
  /** Messages of the history that are in it. */
  readonly count: number;
}

/** Calls as they are sent. Servers that fill a template with the arguments want an object, whatever the model once gave. */
const callsOf = ({ toolCalls }: HistoryMessage) =>
  toolCalls.map(({ id, name, arguments: given }) => ({ id, name, arguments: JSON.stringify(asObject(given) ?? {}) }));

const callsText = (message: HistoryMessage) => (message.toolCalls.length > 0 ? JSON.stringify(callsOf(message)) : '');

/** Never less than the number of tokens, and free to compute: no token is shorter than a byte. */
const upperBound = (message: HistoryMessage) =>
  Buffer.byteLength(message.content) +
  Buffer.byteLength(callsText(message)) +
  message.images.length * imageTokens +
  messageOverhead;

const exactCost = (message: HistoryMessage) =>
  countTokens(message.content) +
  countTokens(callsText(message)) +
  message.images.length * imageTokens +
  messageOverhead;

interface Window {
  readonly sessionId: string;
  readonly systemPrompt: string;
  readonly tools: readonly PromptTool[];
  /** Tokens for system prompt, tools and history together. */
  readonly budget: number;
}

/** The newest messages that fit, newest first. Counts tokens only when the bytes alone might not fit. */
async function newestThatFit(db: Queryable, { sessionId, systemPrompt, tools, budget }: Window) {
  const kept: HistoryMessage[] = [];
  let exact = false;
  let used = Buffer.byteLength(systemPrompt) + messageOverhead + Buffer.byteLength(JSON.stringify(tools));
  for (let before = 2_147_483_647; ; ) {
    const page = await loadHistory(db, sessionId, before, pageSize);
    for (const message of page) {
      kept.push(message);
      used += exact ? exactCost(message) : upperBound(message);
      if (used > budget && !exact) {
        exact = true;
        const fixed = countTokens(systemPrompt) + messageOverhead + estimateToolTokens(tools);
        used = kept.reduce((sum, one) => sum + exactCost(one), fixed);
      }
      if (used > budget) {
        kept.pop();
        return { kept, dropped: true };
      }
    }
    const last = page.at(-1);
    if (!last || page.length < pageSize) return { kept, dropped: false };
    before = last.sequence;
  }
}

function toPrompt(message: HistoryMessage, images: readonly string[]): PromptMessage {
  const { content } = message;
  switch (message.role) {
    case 'USER': {
      const missing = message.images.length - images.length;
      const note = missing > 0 ? `\n\n[${missing} earlier image${missing > 1 ? 's' : ''} left out]` : '';
      return { role: 'user', content: content + note, images };
    }
    case 'ASSISTANT':
      return { role: 'assistant', content, toolCalls: callsOf(message) };
    case 'TOOL':
      return { role: 'tool', content, toolCallId: message.toolCallId ?? '' };
  }
}

/**
 * The prompt of a turn: system prompt first and once, then the newest whole rounds that fit into the window beside the
 * room kept for the reply.
 *
 * @throws ChatError CONTEXT_OVERFLOW when the user's message with all that its turn has done since does not fit.
 */
export async function buildPrompt(
  db: Queryable,
  turn: Pick<TurnFacts, 'sessionId' | 'systemPrompt' | 'maxOutputTokens'>,
  model: ModelInfo,
  tools: readonly PromptTool[] = [],
  tail: readonly PromptMessage[] = [],
): Promise<Prompt> {
  const wanted = turn.maxOutputTokens ?? model.maxOutputTokens ?? defaultReserve;
  const reserve = Math.min(wanted, Math.floor(model.contextWindow / 2));
  const { sessionId, systemPrompt } = turn;
  const budget = model.contextWindow - reserve - estimatePromptTokens(tail);
  const { kept, dropped } = await newestThatFit(db, { sessionId, systemPrompt, tools, budget });
  // The newest message of the user is what the turn is about: without it there is nothing to answer.
  if (!kept.some(({ role }) => role === 'USER')) throw new ChatError('CONTEXT_OVERFLOW');
  // A tool message whose call was cut off is no use to anybody, and providers refuse it.
  while (kept.at(-1)?.role === 'TOOL') kept.pop();

  const newest = kept.find(({ role }) => role === 'USER');
  let imageBytes = 0;
  const messages = kept.map((message) => {
    const images = message.images.filter((image) => {
      imageBytes += image.length;
      return message === newest || imageBytes <= mostImageBytes;
    });
    return toPrompt(message, images);
  });
  messages.reverse();
  if (systemPrompt !== '') messages.unshift({ role: 'system', content: systemPrompt });
  return { messages: [...messages, ...tail], dropped, count: kept.length };
}

/** Tools as the model is shown them. */
const toPromptTools = (tools: readonly Tool[]): PromptTool[] =>
  tools.map(({ name, description, parameters }) => ({ name, description, parameters }));

/** A request with the report of how its prompt was made up. */
export interface BuiltRequest {
  readonly request: ModelRequest;
  readonly report: ContextReport;
}

/**
 * The request that a turn's next model call makes.
 *
 * @param tail of the prompt: what stands in no history and is said behind it.
 * @throws ChatError CONTEXT_OVERFLOW
 */
export async function buildRequest(
  { db, tools }: { readonly db: Queryable; readonly tools: ToolRegistry },
  turn: TurnFacts,
  model: ModelInfo,
  tail: readonly PromptMessage[] = [],
): Promise<BuiltRequest> {
  const allowed = sessionTools(tools, turn);
  const offered = model.takesTools ? toPromptTools(allowed) : [];
  const { messages, dropped, count } = await buildPrompt(db, turn, model, offered, tail);
  const { temperature, maxOutputTokens, systemPrompt } = turn;
  const systemTokens = systemPrompt === '' ? 0 : countTokens(systemPrompt) + messageOverhead;
  const report: ContextReport = {
    strategy: dropped ? 'AGGRESSIVE' : 'PASSTHROUGH',
    windowTokens: model.contextWindow,
    systemTokens,
    toolTokens: estimateToolTokens(offered),
    historyTokens: Math.max(0, estimatePromptTokens(messages) - systemTokens),
    messagesTotal: count + (dropped ? 1 : 0),
    messagesKept: count,
    messagesCompressed: 0,
    messagesDropped: dropped ? 1 : 0,
    tokensSaved: 0,
    fidelity: { l0: count, l1: 0, l2: 0, l3: 0 },
    toolsLoaded: offered.length,
    toolsAvailable: allowed.length,
  };
  return { request: { model: model.id, messages, tools: offered, temperature, maxOutputTokens }, report };
}
