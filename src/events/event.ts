import type { ErrorCode } from '../errors.js';
import type { TokenUsage } from '../model/port.js';
import type { ContextReport } from './context-report.js';
import type { EventSource } from './cursor.js';
import type { ReachedLimit } from './reached-limit.js';
import type { StoredEnd } from './stored-end.js';

/** What every event of a turn carries. `sequence` strictly rises within a turn, and from turn to turn of a session. */
interface EventBase extends EventSource {
  readonly sessionId: string;
  readonly sequence: number;
  readonly at: Date;
}

export interface StepUsage extends TokenUsage {
  readonly estimated: boolean;
}

/** How a step was judged. The words of `reasons` are for people and machines alike and are never changed. */
export interface StepAssessment {
  /** Whether the turn could end with it. */
  readonly completed: boolean;
  /** From 0 to 1; null when there is no answer to be confident in. */
  readonly confidence: number | null;
  /** Whether the model seems to lack something that only the user can tell. */
  readonly needsClarification: boolean;
  readonly reasons: readonly string[];
}

/** Why a step whose reply called no tools is followed by another: its text goes on, or is to be checked. */
export type GoesOn = 'length' | 'verify';

/** An event without its place in the log. Texts are plain values; everything else is named by its id and read when told. */
export type TurnEventBody =
  | { readonly type: 'TurnStarted' }
  | { readonly type: 'ContextReported'; readonly step: number; readonly report: ContextReport }
  | { readonly type: 'TextDelta'; readonly step: number; readonly messageId: string; readonly delta: string }
  | { readonly type: 'ThinkingDelta'; readonly step: number; readonly delta: string }
  | {
      readonly type: 'StepCompleted';
      readonly step: number;
      readonly usage: StepUsage;
      readonly costUsd: number;
      readonly assessment: StepAssessment;
      /** Null when tools are run next, or nothing. */
      readonly goesOn: GoesOn | null;
    }
  /** `toolCallId` is the id of the row, not the one that the model gave. */
  | { readonly type: 'ToolCallStarted'; readonly step: number; readonly toolCallId: string }
  | { readonly type: 'ToolCallCompleted'; readonly step: number; readonly toolCallId: string }
  /** `callId` is the id that the model gave. */
  | {
      readonly type: 'DiagnosisReported';
      readonly step: number;
      readonly callId: string;
      readonly category: string;
      readonly suggestion: string;
    }
  | { readonly type: 'InputRequested'; readonly requestId: string }
  | { readonly type: 'InputResolved'; readonly requestId: string }
  /** `reached` is there when a budget has ended the turn. */
  | { readonly type: 'TurnCompleted'; readonly reached?: ReachedLimit; readonly stored?: StoredEnd }
  | {
      readonly type: 'TurnFailed';
      readonly code: ErrorCode;
      readonly retryable: boolean;
      readonly reached?: ReachedLimit;
      readonly stored?: StoredEnd;
    }
  | { readonly type: 'TurnStopped'; readonly stored?: StoredEnd };

export type TurnEvent = EventBase & TurnEventBody;

/** Whether an event ends its turn. */
export const isTerminal = (
  body: TurnEventBody,
): body is Extract<TurnEventBody, { readonly type: 'TurnCompleted' | 'TurnFailed' | 'TurnStopped' }> =>
  body.type === 'TurnCompleted' || body.type === 'TurnFailed' || body.type === 'TurnStopped';
