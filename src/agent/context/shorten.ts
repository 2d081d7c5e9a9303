import { type CurrentForm, mentionedForms, prunedForms, shorterLast } from './current-round.js';
import type { Estimate } from './estimate.js';
import { recentRounds } from './history.js';
import type { Plan, PlannedRound } from './planned.js';
import { relevance } from './relevance.js';
import { type Round, wordsOf } from './rounds.js';

/** The part of the room that the last step of the turn may take as long as there is anything else. */
const lastShare = 0.6;
/** What is left of the first request when everything else has given way. */
const firstAtLast = 300;

/** Rounds by their age and by how little they have to do with what the turn is about. */
function leastMissedFirst(rounds: readonly PlannedRound[], current: Round): PlannedRound[] {
  const question = current.groups[0]?.message.content ?? '';
  const scores = relevance(
    question,
    rounds.map(({ round }) => wordsOf(round)),
  );
  return rounds
    .map((planned, at) => ({ planned, score: at / rounds.length + (scores[at] ?? 0) }))
    .toSorted((a, b) => a.score - b.score)
    .map(({ planned }) => planned);
}

/**
 * Changes a plan step by step, each time so that its prompt becomes shorter at the least loss, and yields after each
 * change: what nobody misses first, then older and less relevant rounds, after those the recent ones, at last the steps
 * of the turn itself.
 */
export function* shorten(plan: Plan, estimate: Estimate, room: number): Generator<void> {
  const middle = plan.past.slice(0, Math.max(0, plan.past.length - recentRounds));
  const recent = plan.past.slice(middle.length);

  function* tell(rounds: readonly PlannedRound[], form: PlannedRound['form']): Generator<void> {
    for (const planned of rounds) {
      const isShown = form === 'pruned' && planned.isShown;
      if (estimate.shorten(planned, { form, isShown })) yield;
    }
  }
  function* hideImages(rounds: readonly PlannedRound[]): Generator<void> {
    for (const planned of rounds) {
      if (planned.isShown && estimate.shorten(planned, { form: planned.form, isShown: false })) yield;
    }
  }
  function* tellCurrent(forms: readonly CurrentForm[]): Generator<void> {
    for (const form of forms) {
      estimate.setCurrent(form);
      yield;
    }
  }

  // No single message may push out all others.
  plan.firstLength = room;
  const lastForms = [plan.currentForm, ...shorterLast(plan.currentForm)];
  estimate.setCurrent(lastForms.find((form) => estimate.last(form) <= room * lastShare) ?? plan.currentForm);
  yield;
  yield* hideImages(middle);
  yield* tell(middle, 'pruned');
  yield* tellCurrent(prunedForms(plan.current, plan.currentForm));
  const lowestFirst = leastMissedFirst(middle, plan.current);
  yield* tell(lowestFirst, 'short');
  yield* tell(lowestFirst, 'brief');
  yield* tell(lowestFirst, 'trace');
  yield* tell(middle, 'dropped');
  yield* hideImages(recent);
  yield* tell(recent, 'pruned');
  yield* tell(recent, 'short');
  yield* tell(recent, 'brief');
  yield* tell(recent, 'dropped');
  yield* tellCurrent(mentionedForms(plan.current, plan.currentForm));
  plan.firstLength = firstAtLast;
  yield;
  yield* tellCurrent(shorterLast(plan.currentForm));
  plan.summary = null;
  yield;
  plan.first = null;
  yield;
}
