import type { ErrorCode } from '../errors.js';
import type { TokenUsage } from '../model/port.js';

/** What every event of a turn carries. `sequence` strictly rises within a turn; `cursor` is opaque to clients. */
interface EventBase {
  readonly sessionId: string;
  readonly turnId: string;
  readonly sequence: number;
  readonly cursor: string;
  readonly at: Date;
}

export interface StepUsage extends TokenUsage {
  readonly estimated: boolean;
}

/** An event without its place in the log. Texts are plain values: only first and last event lead to stored objects. */
export type TurnEventBody =
  | { readonly type: 'TurnStarted' }
  | { readonly type: 'TextDelta'; readonly step: number; readonly messageId: string; readonly delta: string }
  | { readonly type: 'ThinkingDelta'; readonly step: number; readonly delta: string }
  | { readonly type: 'StepCompleted'; readonly step: number; readonly usage: StepUsage; readonly costUsd: number }
  | { readonly type: 'TurnCompleted' }
  | { readonly type: 'TurnFailed'; readonly code: ErrorCode; readonly retryable: boolean }
  | { readonly type: 'TurnStopped' };

export type TurnEvent = EventBase & TurnEventBody;
