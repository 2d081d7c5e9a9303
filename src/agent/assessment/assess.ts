import type { StepAssessment } from '../../events/event.js';
import type { ModelFinishReason } from '../../model/port.js';
import { checked, phrases, type Signal } from './phrases.js';

/** What a model call gave, without any judgement. */
export interface ReplyFacts {
  readonly finishReason: ModelFinishReason | null;
  /** Whether the reply, with what it continues, says anything. */
  readonly saysSomething: boolean;
  readonly callsTools: boolean;
  /** What the model showed of its reasoning in this call. */
  readonly thinking: string;
}

/**
 * Thinking goes back and forth: only how it ends is a judgement of the reply that follows it. In UTF-16 units, some three
 * sentences.
 */
const lastWords = 400;

/** Of an answer that nothing speaks against. */
const usualConfidence = 0.9;
const uncertainFactor = 0.6;
const missingFactor = 0.5;

function endOf(text: string, pattern: RegExp): number {
  let end = -1;
  for (const match of text.matchAll(pattern)) end = match.index + match[0].length;
  return end;
}

/** What the end of a thinking gives away. A check that was made after the wish for it is no wish any more. */
export function signalsOf(thinking: string): ReadonlySet<Signal> {
  const words = thinking.slice(-lastWords);
  const signals = new Set<Signal>();
  for (const { signal, pattern } of phrases) {
    const end = endOf(words, pattern);
    if (end < 0) continue;
    if (signal !== 'wants_to_verify' || !checked.test(words.slice(end))) signals.add(signal);
  }
  return signals;
}

const none = (reason: string): StepAssessment => ({
  completed: false,
  confidence: null,
  needsClarification: false,
  reasons: [reason],
});

/** Judges a reply by its facts alone, so that the same facts are always judged alike. */
export function assess({ finishReason, saysSomething, callsTools, thinking }: ReplyFacts): StepAssessment {
  if (callsTools) return none('tool_calls');
  if (finishReason === 'content_filter') return none('content_filter');
  if (!saysSomething) return none('empty_reply');
  if (finishReason === 'length') return none('length');
  if (finishReason !== 'stop') return none('no_finish_reason');
  const signals = signalsOf(thinking);
  const isUncertain = signals.has('uncertain');
  const isMissing = signals.has('missing_information');
  const confidence = usualConfidence * (isUncertain ? uncertainFactor : 1) * (isMissing ? missingFactor : 1);
  return {
    completed: !signals.has('wants_to_verify'),
    confidence: Math.round(confidence * 100) / 100,
    needsClarification: isMissing,
    reasons: signals.size > 0 ? [...signals] : ['answered'],
  };
}
