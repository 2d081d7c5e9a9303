import type { OwnedTurn, StoredToolCall } from '../db/queries/owned-turn.js';
import type { GoesOn } from '../events/event.js';
import { type LayoutEntry, textLength, withoutUnfinishedStep } from '../events/layout.js';

/** A message that the next step goes on writing. */
export interface PartialMessage {
  readonly messageId: string;
  /** What complete steps have written of it. */
  readonly kept: string;
  /** What a lost attempt at the next step had written behind that. */
  readonly lost: string;
}

/** Where a turn stands. */
export interface TurnState {
  /** Steps that are complete and stored; 0 for a fresh turn. */
  readonly step: number;
  /** Calls of the last of these steps, in order, the answered ones included. */
  readonly toolCalls: readonly StoredToolCall[];
  /** Why the next step follows one without calls of tools; null when that has none, or tools. */
  readonly goesOn: GoesOn | null;
  /** Whether the turn was given a step to verify its answer. */
  readonly hasVerified: boolean;
  readonly partial: PartialMessage | null;
}

export const freshTurn: TurnState = { step: 0, toolCalls: [], goesOn: null, hasVerified: false, partial: null };

function partialOf(partial: OwnedTurn['partial'], complete: readonly LayoutEntry[]): PartialMessage | null {
  if (!partial) return null;
  const { messageId, content } = partial;
  const length = textLength(complete, messageId);
  return { messageId, kept: content.slice(0, length), lost: content.slice(length) };
}

/** Where a turn stands by its rows. */
export function stateOf({
  toolCalls,
  partial,
  stored,
}: Pick<OwnedTurn, 'toolCalls' | 'partial' | 'stored'>): TurnState {
  const complete = withoutUnfinishedStep(stored.layout);
  const steps = complete.filter((entry) => entry.type === 'step');
  const last = steps.at(-1);
  return {
    step: last?.step ?? 0,
    toolCalls,
    goesOn: last?.goesOn ?? null,
    hasVerified: steps.some(({ goesOn }) => goesOn === 'verify'),
    partial: partialOf(partial, complete),
  };
}
