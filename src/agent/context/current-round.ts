import type { HistoryMessage } from '../../db/queries/load-history.js';
import { callsOf, type Level, mention, type Piece, prunedResult, tellGroup, tellUser } from './forms.js';
import { type Group, messagesOf, type Round } from './rounds.js';
import { abridge, beginning, cutResult, withoutDataUrls } from './texts.js';

/**
 * How the round is told that its turn is about. The user's message and the calls of the last step are always there. Of
 * the steps before, the oldest are only mentioned, those behind them have notes instead of long results.
 */
export interface CurrentForm {
  /** Groups of earlier steps, oldest first, of which nothing is told. */
  readonly gone: number;
  /** Of the rest, those that are only mentioned. */
  readonly mentioned: number;
  /** Of the rest, those whose long results are left out. */
  readonly pruned: number;
  /** Longest text of the last step, results and arguments included, in UTF-16 units. */
  readonly longest: number;
}

export const wholeCurrent: CurrentForm = { gone: 0, mentioned: 0, pruned: 0, longest: Number.POSITIVE_INFINITY };

/** Lengths to which the texts of the last step are cut, one after the other, until they fit. */
const lengths = [32_000, 16_000, 8_000, 4_000, 2_000, 1_000, 500, 250, 120, 60];

/** What the last step of a round has said; of a round that only begins, nothing. */
function split({ groups }: Round): { user: HistoryMessage | null; earlier: readonly Group[]; last: Group | null } {
  const [first, ...rest] = groups;
  const hasUser = first?.message.role === 'USER';
  const steps = hasUser ? rest : groups;
  return { user: hasUser ? first.message : null, earlier: steps.slice(0, -1), last: steps.at(-1) ?? null };
}

function tellLast(group: Group, longest: number): Piece[] {
  if (longest === Number.POSITIVE_INFINITY) return tellGroup(group, 'verbatim');
  const { message, results } = group;
  const content = abridge(withoutDataUrls(message.content), longest);
  return [
    { message: { role: 'assistant', content, toolCalls: callsOf(message, longest) }, key: `${message.id}:${longest}` },
    ...results.map(
      (result): Piece => ({
        message: {
          role: 'tool',
          content: cutResult(withoutDataUrls(result.content), longest),
          toolCallId: result.toolCallId ?? '',
        },
        key: `${result.id}:${longest}`,
      }),
    ),
  ];
}

/** A step in a few words, results included. */
function mentionGroup({ message, results }: Group): string {
  const said = abridge(withoutDataUrls(message.content), 80);
  const told = results.map(({ content }) => beginning(content.replaceAll(/\s+/g, ' '), 60)).join(' | ');
  const called = message.toolCalls.length > 0 ? `[called ${mention(message)}; results: ${told}]` : '';
  return [said, called].filter((part) => part.trim() !== '').join('\n');
}

/** Puts words of the assistant in front of what it says next. */
function prefix(text: string, pieces: readonly Piece[]): Piece[] {
  const [first, ...rest] = pieces;
  if (text === '' || first?.message.role !== 'assistant') return [...pieces];
  const content = [text, first.message.content].filter((part) => part.trim() !== '').join('\n\n');
  return [{ message: { ...first.message, content }, key: null }, ...rest];
}

export function tellCurrent(round: Round, form: CurrentForm, isShown: boolean): Piece[] {
  const { user, earlier, last } = split(round);
  const told = earlier.slice(form.gone);
  const mentions = told.slice(0, form.mentioned).map(mentionGroup);
  if (form.gone > 0) mentions.unshift(`[${form.gone} earlier steps of this answer are left out]`);
  const steps = told
    .slice(form.mentioned)
    .flatMap((group, at) => tellGroup(group, at < form.pruned ? 'pruned' : 'verbatim'));
  if (last) steps.push(...tellLast(last, form.longest));
  return [...(user ? [tellUser(user, 'verbatim', isShown)] : []), ...prefix(mentions.join('\n'), steps)];
}

/** The form in which nothing is told of the earlier steps. */
export const onlyLast = (round: Round, form: CurrentForm): CurrentForm => ({
  ...form,
  gone: split(round).earlier.length,
  mentioned: 0,
  pruned: 0,
});

/** Forms of the last step's texts, from long to short. */
export const shorterLast = (form: CurrentForm): CurrentForm[] =>
  lengths.filter((length) => length < form.longest).map((longest) => ({ ...form, longest }));

/** Forms with ever more notes instead of results, the oldest first. */
export function prunedForms(round: Round, form: CurrentForm): CurrentForm[] {
  const { earlier } = split(round);
  return earlier.flatMap(({ results }, at) =>
    results.some(({ content }) => prunedResult(content) !== content) ? [{ ...form, pruned: at + 1 }] : [],
  );
}

/** Forms in which ever more of the earlier steps are only mentioned, then left out. */
export function mentionedForms(round: Round, form: CurrentForm): CurrentForm[] {
  const { earlier } = split(round);
  const pruned = (behind: number) => Math.max(0, form.pruned - behind);
  return [
    ...earlier.map((_, at) => ({ ...form, mentioned: at + 1, pruned: pruned(at + 1) })),
    ...earlier.map((_, at) => ({ ...form, gone: at + 1, mentioned: earlier.length - at - 1, pruned: 0 })),
  ];
}

/** How much a form leaves of each message, in order; null of one that is not told. */
export function currentLevels(round: Round, form: CurrentForm): (Level | null)[] {
  const { user, earlier, last } = split(round);
  const levels = (group: Group, at: number): (Level | null)[] => {
    const messages = messagesOf({ groups: [group] });
    if (at < form.gone) return messages.map(() => null);
    if (at < form.gone + form.mentioned) return messages.map(({ role }) => (role === 'TOOL' ? 3 : 2));
    const isPruned = at < form.gone + form.mentioned + form.pruned;
    return messages.map(({ role, content }) =>
      isPruned && role === 'TOOL' && prunedResult(content) !== content ? 2 : 0,
    );
  };
  const lastLevels = (group: Group): Level[] =>
    messagesOf({ groups: [group] }).map(({ content }) => (content.length > form.longest ? 1 : 0));
  return [...(user ? [0 as const] : []), ...earlier.flatMap(levels), ...(last ? lastLevels(last) : [])];
}
