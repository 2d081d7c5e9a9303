import type { TurnEnd } from '../db/queries/settle-turn.js';
import { type ErrorCode, errorTable } from '../errors.js';
import { mayComeFree } from '../events/reached-limit.js';
import type { CallResult } from './call-model.js';
import { BudgetExhausted, StopRequested } from './ends.js';

/** How a turn ends, without what was written and what it cost. */
export interface Verdict {
  readonly status: TurnEnd['status'];
  readonly finishReason: TurnEnd['finishReason'];
  readonly errorCode: ErrorCode | null;
  readonly errorRetryable: boolean | null;
  /** Whether the text is as the model meant it to be. */
  readonly replyStatus: 'COMPLETE' | 'PARTIAL';
}

export const failed = (code: ErrorCode, retryable: boolean = errorTable[code].retryable): Verdict => ({
  status: 'FAILED',
  finishReason: 'ERROR',
  errorCode: code,
  errorRetryable: retryable,
  replyStatus: 'PARTIAL',
});

const ended = (
  status: 'COMPLETED' | 'STOPPED',
  finishReason: TurnEnd['finishReason'],
  replyStatus: Verdict['replyStatus'],
): Verdict => ({ status, finishReason, errorCode: null, errorRetryable: null, replyStatus });

/** The end of a turn whose tools were run, and which may make no further model call. */
export const outOfSteps = ended('COMPLETED', 'MAX_STEPS', 'PARTIAL');

/** The end of a turn whose text goes on beyond what the window of the model takes. */
export const cutShort = ended('COMPLETED', 'LENGTH', 'PARTIAL');

/** The end of a turn that had its answer already, which another step was to check. */
export const draftStands = ended('COMPLETED', 'STOP', 'COMPLETE');

/** The end of a turn whose next call no budget allows, or whose reply was cut to what one allowed. */
const outOfBudget = ended('COMPLETED', 'BUDGET', 'PARTIAL');

/** Whether a budget has ended the turn. */
export const isByBudget = ({ finishReason, errorCode }: Verdict): boolean =>
  finishReason === 'BUDGET' || errorCode === 'BUDGET_EXCEEDED' || errorCode === 'MODEL_PRICE_UNKNOWN';

/** What cuts a turn from outside: its user's stop, the budget before it began, or the end of this process. */
export function cut(reason: unknown): Verdict {
  if (reason instanceof StopRequested) return ended('STOPPED', 'STOPPED', 'PARTIAL');
  return failed(reason instanceof BudgetExhausted ? 'BUDGET_EXCEEDED' : 'INTERRUPTED');
}

/** How a turn ends with what its last model call gave. A reply counts only with its finish reason, and only when it says something. */
export function judge(result: CallResult, step: number, saysSomething: boolean, signal: AbortSignal): Verdict {
  if (result.finishReason === null && signal.aborted) return cut(signal.reason);
  if (result.error) return failed(result.error.code, result.error.retryable);
  if (result.budget) {
    if (step > 1 || saysSomething) return outOfBudget;
    const { isPriceUnknown, reached } = result.budget;
    return isPriceUnknown ? failed('MODEL_PRICE_UNKNOWN') : failed('BUDGET_EXCEEDED', mayComeFree(reached));
  }
  switch (result.finishReason) {
    case 'stop':
      return saysSomething ? ended('COMPLETED', 'STOP', 'COMPLETE') : failed('EMPTY_RESPONSE');
    case 'length':
      return saysSomething ? ended('COMPLETED', 'LENGTH', 'PARTIAL') : failed('EMPTY_RESPONSE');
    case 'content_filter':
      return ended('COMPLETED', 'CONTENT_FILTER', 'PARTIAL');
    default:
      // Calls of tools were announced, and none came.
      return failed('PROVIDER_BAD_RESPONSE');
  }
}
