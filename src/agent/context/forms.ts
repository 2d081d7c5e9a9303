import type { HistoryMessage } from '../../db/queries/load-history.js';
import type { PromptMessage, PromptToolCall } from '../../model/port.js';
import { asObject } from '../tools/arguments.js';
import { showImages } from './images.js';
import { type Group, messagesOf, type Round } from './rounds.js';
import { abridge, beginning, plural, resultNote, withoutDataUrls } from './texts.js';

/**
 * How a round is told, from whole to a trace: as it was written; with notes instead of long results; its texts cut to
 * about 300 characters; to about 80, its calls only mentioned; one line about it.
 */
export type Form = 'verbatim' | 'pruned' | 'short' | 'brief' | 'trace';

/** How much is left of a message, from all to a trace. */
export type Level = 0 | 1 | 2 | 3;

/** A message of a prompt. */
export interface Piece {
  readonly message: PromptMessage;
  /** Names the message and its form, where these decide its text; null where they do not. */
  readonly key: string | null;
}

export const shortLength = 300;
export const briefLength = 80;
/** A shorter result is told whole: a note about it would hardly be shorter. */
const notedLength = 240;

const textLength: Readonly<Record<'short' | 'brief', number>> = { short: shortLength, brief: briefLength };

/** A text in a form that tells its messages one by one. */
const textIn = (text: string, form: Exclude<Form, 'trace'>) =>
  form === 'short' || form === 'brief' ? abridge(text, textLength[form]) : text;

const argumentsText = (given: unknown) => JSON.stringify(asObject(given) ?? {});

/** Calls as they are sent. Servers that fill a template with the arguments want an object, whatever the model once gave. */
export const callsOf = ({ toolCalls }: HistoryMessage, longest = Number.POSITIVE_INFINITY): PromptToolCall[] =>
  toolCalls.map(({ id, name, arguments: given }) => {
    const text = argumentsText(given);
    const isWhole = text.length <= longest;
    return { id, name, arguments: isWhole ? text : JSON.stringify({ shortened: beginning(text, briefLength) }) };
  });

/** How a call is mentioned in a text. */
export const mention = ({ toolCalls }: HistoryMessage): string =>
  toolCalls.map(({ name, arguments: given }) => `${name}(${abridge(argumentsText(given), 60)})`).join(', ');

export const prunedResult = (content: string): string =>
  content.length <= notedLength ? content : resultNote(content, briefLength);

export function tellUser(message: HistoryMessage, form: Exclude<Form, 'trace'>, isShown: boolean): Piece {
  const { references, note } = showImages(message, isShown && (form === 'verbatim' || form === 'pruned'));
  const text = textIn(message.content, form);
  const content = note === null ? text : [text, note].filter((part) => part.trim() !== '').join('\n\n');
  // The length tells apart how much of the first request is told.
  const key = `${message.id}:${form}:${references.length}:${content.length}`;
  return { message: { role: 'user', content, images: references }, key };
}

/** The first request, cut rather than that it takes the room of everything else. */
export const tellFirst = (message: HistoryMessage, length: number): Piece =>
  tellUser({ ...message, content: abridge(message.content, length) }, 'verbatim', false);

export function tellResult(result: HistoryMessage, form: 'verbatim' | 'pruned' | 'short'): Piece {
  const whole = withoutDataUrls(result.content);
  return {
    message: {
      role: 'tool',
      content: form === 'verbatim' ? whole : prunedResult(whole),
      toolCallId: result.toolCallId ?? '',
    },
    key: `${result.id}:${form === 'verbatim' ? form : 'pruned'}`,
  };
}

/** A group of the assistant, with its calls and their results. */
export function tellGroup({ message, results }: Group, form: 'verbatim' | 'pruned' | 'short'): Piece[] {
  const longest = form === 'short' ? shortLength : Number.POSITIVE_INFINITY;
  const content = textIn(withoutDataUrls(message.content), form);
  return [
    {
      message: { role: 'assistant', content, toolCalls: callsOf(message, longest) },
      key: `${message.id}:${form}`,
    },
    ...results.map((result) => tellResult(result, form)),
  ];
}

const briefText = ({ groups }: Round): string =>
  groups
    .filter(({ message }) => message.role === 'ASSISTANT')
    .flatMap(({ message }) => [
      abridge(withoutDataUrls(message.content), briefLength),
      message.toolCalls.length > 0 ? `[called ${mention(message)}; the results are left out]` : '',
    ])
    .filter((part) => part.trim() !== '')
    .join('\n');

/** The messages of a round in a form; a trace is a line and no message. */
export function tellRound(round: Round, form: Exclude<Form, 'trace'>, isShown: boolean): Piece[] {
  if (form !== 'brief') {
    return round.groups.flatMap((group) =>
      group.message.role === 'USER' ? [tellUser(group.message, form, isShown)] : tellGroup(group, form),
    );
  }
  const [first] = round.groups;
  const text = briefText(round);
  return [
    ...(first?.message.role === 'USER' ? [tellUser(first.message, form, false)] : []),
    ...(text === ''
      ? []
      : [
          { message: { role: 'assistant', content: text, toolCalls: [] }, key: `${first?.message.id}:brief+` } as const,
        ]),
  ];
}

/** A round in one line: how it began, how long its messages were and what was called. */
export function traceLine(round: Round): string {
  const messages = messagesOf(round);
  const asked = messages.find(({ role }) => role === 'USER');
  const answers = messages.filter(({ role }) => role === 'ASSISTANT');
  const calls = [...new Set(answers.flatMap(({ toolCalls }) => toolCalls.map(({ name }) => name)))];
  const length = answers.reduce((sum, { content }) => sum + content.length, 0);
  const begun = asked && beginning(asked.content.replaceAll(/\s+/g, ' ').trim(), 30);
  return [
    asked ? `- user: "${begun}…" (${plural(asked.content.length, 'character')})` : '-',
    ...(length > 0 ? [`answered in ${plural(length, 'character')}`] : []),
    ...(calls.length > 0 ? [`called ${calls.join(', ')}`] : []),
  ].join('; ');
}

/** How much a form leaves of a message. */
export function levelIn({ role, content, toolCalls }: HistoryMessage, form: Form): Level {
  if (form === 'verbatim') return 0;
  if (form === 'trace') return 3;
  if (role === 'TOOL') return form === 'brief' ? 3 : content.length > notedLength ? 2 : 0;
  if (form === 'pruned') return 0;
  if (form === 'brief' && toolCalls.length > 0) return 2;
  if (abridge(content, textLength[form]) === content) return 0;
  return form === 'short' ? 1 : 2;
}
