import type { ErrorCode } from '../errors.js';
import type { TokenUsage } from '../model/port.js';
import type { EventSource } from './cursor.js';
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

/** An event without its place in the log. Texts are plain values; everything else is named by its id and read when told. */
export type TurnEventBody =
  | { readonly type: 'TurnStarted' }
  | { readonly type: 'TextDelta'; readonly step: number; readonly messageId: string; readonly delta: string }
  | { readonly type: 'ThinkingDelta'; readonly step: number; readonly delta: string }
  | { readonly type: 'StepCompleted'; readonly step: number; readonly usage: StepUsage; readonly costUsd: number }
  /** `toolCallId` is the id of the row, not the one that the model gave. */
  | { readonly type: 'ToolCallStarted'; readonly step: number; readonly toolCallId: string }
  | { readonly type: 'ToolCallCompleted'; readonly step: number; readonly toolCallId: string }
  | { readonly type: 'InputRequested'; readonly requestId: string }
  | { readonly type: 'InputResolved'; readonly requestId: string }
  | { readonly type: 'TurnCompleted'; readonly stored?: StoredEnd }
  | { readonly type: 'TurnFailed'; readonly code: ErrorCode; readonly retryable: boolean; readonly stored?: StoredEnd }
  | { readonly type: 'TurnStopped'; readonly stored?: StoredEnd };

export type TurnEvent = EventBase & TurnEventBody;

/** Whether an event ends its turn. */
export const isTerminal = (
  body: TurnEventBody,
): body is Extract<TurnEventBody, { readonly type: 'TurnCompleted' | 'TurnFailed' | 'TurnStopped' }> =>
  body.type === 'TurnCompleted' || body.type === 'TurnFailed' || body.type === 'TurnStopped';
