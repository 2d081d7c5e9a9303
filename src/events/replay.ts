import type { ErrorCode } from '../errors.js';
import type { StepAssessment, TurnEvent, TurnEventBody } from './event.js';
import { type LayoutEntry, sequenceLength } from './layout.js';
import type { ReachedLimit } from './reached-limit.js';

/** A turn as it is stored, with all that its events are made from. */
export interface StoredTurn {
  readonly id: string;
  readonly sessionId: string;
  readonly number: number;
  /** Rises with every owner. */
  readonly epoch: number;
  /**
   * Sequence before its first event. It rises when the turn is told anew because what its owner had told, but not
   * stored, was lost with it; whatever lies below belongs to that older telling.
   */
  readonly eventBase: number;
  readonly status: 'QUEUED' | 'RUNNING' | 'AWAITING_INPUT' | 'COMPLETED' | 'FAILED' | 'STOPPED';
  readonly errorCode: ErrorCode | null;
  readonly errorRetryable: boolean | null;
  readonly layout: readonly LayoutEntry[];
  /** Texts of its assistant messages by message id. */
  readonly texts: ReadonlyMap<string, string>;
}

/** Whether all of a turn is stored, its end included. */
export const isEnded = ({ layout }: Pick<StoredTurn, 'layout'>) => layout.at(-1)?.type === 'end';

const unjudged: StepAssessment = { completed: true, confidence: null, needsClarification: false, reasons: [] };

function endOf(turn: StoredTurn, reached: ReachedLimit | undefined): TurnEventBody {
  if (turn.status === 'STOPPED') return { type: 'TurnStopped' };
  const budget = reached && { reached };
  if (turn.status === 'COMPLETED') return { type: 'TurnCompleted', ...budget };
  const retryable = turn.errorRetryable ?? false;
  return { type: 'TurnFailed', code: turn.errorCode ?? 'INTERNAL', retryable, ...budget };
}

function* bodies(turn: StoredTurn): Generator<{ body: TurnEventBody; at: number }> {
  const read = new Map<string, number>();
  for (const entry of turn.layout) {
    switch (entry.type) {
      case 'start':
        yield { body: { type: 'TurnStarted' }, at: entry.at };
        break;
      case 'context':
        yield { body: { type: 'ContextReported', step: entry.step, report: entry.report }, at: entry.at };
        break;
      case 'text': {
        const from = read.get(entry.messageId) ?? 0;
        const delta = entry.text ?? (turn.texts.get(entry.messageId) ?? '').slice(from, from + entry.length);
        read.set(entry.messageId, from + entry.length);
        yield { body: { type: 'TextDelta', step: entry.step, messageId: entry.messageId, delta }, at: entry.at };
        break;
      }
      case 'thinking':
        yield { body: { type: 'ThinkingDelta', step: entry.step, delta: entry.text }, at: entry.at };
        break;
      case 'step': {
        const { type: _type, at, ...step } = entry;
        yield { body: { type: 'StepCompleted', assessment: unjudged, goesOn: null, ...step }, at };
        break;
      }
      case 'toolStart':
      case 'toolEnd': {
        const type = entry.type === 'toolStart' ? 'ToolCallStarted' : 'ToolCallCompleted';
        yield { body: { type, step: entry.step, toolCallId: entry.toolCallId }, at: entry.at };
        break;
      }
      case 'diagnosis': {
        const { type: _type, at, ...diagnosis } = entry;
        yield { body: { type: 'DiagnosisReported', ...diagnosis }, at };
        break;
      }
      case 'input':
      case 'inputEnd': {
        const type = entry.type === 'input' ? 'InputRequested' : 'InputResolved';
        yield { body: { type, requestId: entry.requestId }, at: entry.at };
        break;
      }
      case 'end':
        yield { body: endOf(turn, entry.reached), at: entry.at };
    }
  }
}

/** The part of a delta that lies after a sequence; `end` is the sequence of the whole delta. */
export function cutBefore<Body extends TurnEventBody>(body: Body, end: number, after: number): Body {
  if (body.type !== 'TextDelta' && body.type !== 'ThinkingDelta') return body;
  const start = end - body.delta.length;
  return after > start ? { ...body, delta: body.delta.slice(after - start) } : body;
}

/**
 * The events of a stored turn that lie after a sequence, neighbouring deltas merged. All of them for 0, and for any
 * place in an older telling of it.
 */
export function replay(turn: StoredTurn, after: number): TurnEvent[] {
  const events: TurnEvent[] = [];
  let sequence = turn.eventBase;
  for (const { body, at } of bodies(turn)) {
    sequence += sequenceLength(body);
    if (sequence <= after) continue;
    events.push({
      ...cutBefore(body, sequence, after),
      sessionId: turn.sessionId,
      turnId: turn.id,
      turnNumber: turn.number,
      sequence,
      at: new Date(at),
    });
  }
  return events;
}
