import type { HistoryMessage } from '../../db/queries/load-history.js';
import type { PromptMessage } from '../../model/port.js';
import { type CurrentForm, wholeCurrent } from './current-round.js';
import type { Form } from './forms.js';
import type { History, Summary } from './history.js';
import { messagesWithImages } from './images.js';
import { messagesOf, type Round } from './rounds.js';

/** A round of the past as it is going to be told. */
export interface PlannedRound {
  readonly round: Round;
  form: Form | 'dropped';
  isShown: boolean;
}

/** What is going to be told, in a state that fits or does not fit yet. */
export interface Plan {
  first: HistoryMessage | null;
  /** Longest text of the first request, in UTF-16 units. */
  firstLength: number;
  summary: Summary | null;
  readonly past: readonly PlannedRound[];
  readonly current: Round;
  readonly isCurrentShown: boolean;
  currentForm: CurrentForm;
}

/** A plan that fits, and the prompt without its system prompt that it comes to. */
export interface FittedPlan {
  readonly plan: Plan;
  readonly messages: readonly PromptMessage[];
  readonly tokens: number;
}

/** All as it was written. */
export function beginPlan({ first, summary, rounds }: History): Plan {
  const current = rounds.at(-1) ?? { groups: [] };
  const past = rounds.slice(0, -1);
  const withImages = messagesWithImages(rounds.flatMap(messagesOf));
  const isShown = ({ groups }: Round) =>
    groups.some(({ message }) => message.images.length > 0 && withImages.has(message.id));
  return {
    first,
    firstLength: Number.POSITIVE_INFINITY,
    summary,
    past: past.map((round) => ({ round, form: 'verbatim', isShown: isShown(round) })),
    current,
    isCurrentShown: isShown(current),
    currentForm: wholeCurrent,
  };
}
