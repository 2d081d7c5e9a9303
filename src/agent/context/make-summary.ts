import { bookSummary } from '../../db/queries/book-summary.js';
import type { ModelInfo } from '../../model/catalog.js';
import { ModelError, type ModelRequest, type TokenUsage } from '../../model/port.js';
import { estimatePromptTokens } from '../../model/tokens.js';
import { type CallFacts, settleFigures } from '../call-figures.js';
import type { AgentDependencies } from '../dependencies.js';
import { OwnershipLost } from '../ends.js';
import { openCall } from '../open-call.js';
import { OutputMeter } from '../output-meter.js';
import { patiently } from '../patience.js';
import type { RunningTurn } from '../running-turn.js';
import { modelCallTrace } from '../traces.js';
import { worstCase } from '../worst-case.js';
import type { History } from './history.js';
import { type SummarySource, summaryPrompt, withSummary } from './summary-source.js';

/** Output tokens beyond those of the summary, for models that think before they write. */
const thinkingTokens = 2_048;

/** The model that is asked: the configured one, unless it is not there, or its price unknown where that of the session is not. */
function summaryModel({ findModel, summary }: AgentDependencies, own: ModelInfo): ModelInfo {
  const configured = summary.model === null ? null : findModel(summary.model);
  return configured && (configured.prices !== null || own.prices === null) ? configured : own;
}

/** The request for a summary; null when the model's window is too small for any. */
export function summaryRequest(model: ModelInfo, source: SummarySource): ModelRequest | null {
  const most = Math.min(source.limit + thinkingTokens, model.maxOutputTokens ?? Number.POSITIVE_INFINITY);
  const maxOutputTokens = Math.min(most, Math.floor(model.contextWindow / 2));
  const messages = summaryPrompt(source, model.contextWindow - maxOutputTokens);
  return messages && { model: model.id, messages, temperature: null, maxOutputTokens };
}

interface Answer extends Pick<CallFacts, 'status' | 'usage' | 'output' | 'firstTokenAt' | 'error'> {
  /** Null when it is of no use. */
  readonly content: string | null;
  readonly finishReason: string | null;
}

async function ask(
  { model, now, log, summary }: AgentDependencies,
  { facts, signal }: RunningTurn,
  request: ModelRequest,
  meter: OutputMeter,
): Promise<Answer> {
  const timeUp = AbortSignal.timeout(summary.timeoutMs);
  let [output, content] = ['', ''];
  let firstTokenAt: Date | null = null;
  let usage: TokenUsage | null = null;
  let finishReason: string | null = null;
  let error: Answer['error'] = null;
  try {
    for await (const event of model.stream(request, AbortSignal.any([signal, timeUp]))) {
      if ('text' in event) {
        firstTokenAt ??= now();
        const before = output;
        output += event.text;
        if (meter.take(event.text, () => before) !== event.text) break;
        if (event.type === 'text') content += event.text;
      } else if (event.type === 'usage') usage = event.usage;
      else if (event.type === 'finish') finishReason = event.reason;
    }
  } catch (caught) {
    if (!signal.aborted) {
      if (caught instanceof ModelError) error = { code: caught.code, retryable: caught.retryable };
      else if (timeUp.aborted) error = { code: 'PROVIDER_TIMEOUT', retryable: true };
      else error = { code: 'INTERNAL', retryable: false };
      const why = caught instanceof ModelError ? caught.facts : timeUp.aborted ? {} : { err: caught };
      log.warn({ turnId: facts.turnId, model: request.model, code: error.code, ...why }, 'summary failed');
    }
  }
  const isUsable = (finishReason === 'stop' || finishReason === 'length') && content.trim() !== '';
  return {
    status: error ? 'FAILED' : finishReason === null ? 'ABORTED' : 'SUCCEEDED',
    usage,
    output,
    firstTokenAt,
    error,
    content: isUsable ? content.trim() : null,
    finishReason,
  };
}

/**
 * Has the oldest rounds of a history summarised, at the cost of the turn, and stores what comes. Null when nothing of use
 * comes, in time: the prompt then has to do without, and so do those of the next turns.
 *
 * @throws OwnershipLost, and the error of a database that stayed away.
 */
export async function makeSummary(
  deps: AgentDependencies,
  turn: RunningTurn,
  step: number,
  own: ModelInfo,
  history: History,
  source: SummarySource,
): Promise<History | null> {
  const { facts } = turn;
  const model = summaryModel(deps, own);
  const request = summaryRequest(model, source);
  if (!request) return null;
  const worst = worstCase(model, request, estimatePromptTokens(request.messages));
  const row = { step, attempt: 1, purpose: 'SUMMARY', contextReport: null } as const;
  // Cut short by a budget it would stand for what it does not tell.
  const opening = await openCall(deps, facts, model, { ...worst, leastOutput: worst.wantedOutput }, row);
  if (opening.kind === 'refused') return null;
  const { id, outputTokens } = opening;
  const startedAt = deps.now();
  const { content, finishReason, ...answer } = await ask(deps, turn, request, new OutputMeter(outputTokens));
  const call = settleFigures({ id, startedAt, ...answer }, request, model, deps.now(), { output: outputTokens });
  const summarised = content === null ? null : withSummary(history, source, content);
  const trace = {
    id: deps.newId(),
    data: { ...modelCallTrace(call, model.id, 1, finishReason), purpose: 'SUMMARY' },
  };
  const booked = await patiently(deps, facts.turnId, 'a summary could not be booked yet', () =>
    bookSummary(deps.db, facts, call, trace, summarised?.summary ?? null),
  );
  if (!booked) throw new OwnershipLost();
  return summarised;
}
