import type { GoesOn, StepAssessment } from '../../events/event.js';
import type { PromptMessage } from '../../model/port.js';

interface Standing {
  /** Whether the turn may make a further model call. */
  readonly mayGoOn: boolean;
  /** Whether the turn was given a step to verify its answer before. */
  readonly hasVerified: boolean;
  /** Whether the length of the reply was limited by the client, who then gets what was asked for. */
  readonly isLengthWanted: boolean;
}

/** Why a reply without calls of tools is followed by a further step; null when it is the last. */
export function goesOnFor(
  { completed, reasons }: StepAssessment,
  { mayGoOn, hasVerified, isLengthWanted }: Standing,
): GoesOn | null {
  if (completed || !mayGoOn) return null;
  if (reasons.includes('length')) return isLengthWanted ? null : 'length';
  return reasons.includes('wants_to_verify') && !hasVerified ? 'verify' : null;
}

/**
 * What the model is told at the end of the prompt of such a step. Stored nowhere: it is nobody's words. A message of the
 * user's role, since providers want one there or a tool's.
 */
const words: Readonly<Record<GoesOn, string>> = {
  length:
    'Your last message was cut off by its length limit. Continue it exactly where it ends, as if it had not been interrupted: repeat nothing, add no introduction.',
  verify:
    'You meant to check your answer. Check it now. Then write the whole final answer, corrected where it has to be, without mention of this request.',
};

/** The end of the prompt of a step that goes on for this reason, behind the history. */
export function promptTail(goesOn: GoesOn | null, unfinished: string): readonly PromptMessage[] {
  if (goesOn === null) return [];
  const instruction: PromptMessage = { role: 'user', content: words[goesOn], images: [] };
  return goesOn === 'length' ? [{ role: 'assistant', content: unfinished, toolCalls: [] }, instruction] : [instruction];
}
