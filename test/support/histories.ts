import fc from 'fast-check';
import type { HistoryImage, HistoryMessage } from '../../src/db/queries/load-history.js';
import type { PromptMessage } from '../../src/model/port.js';
import { toWireRequest } from '../../src/model/wire-request.js';
import { historyProblems } from './history.js';

type Told = Pick<HistoryMessage, 'role'> & Partial<HistoryMessage>;

/** Messages as the database gives them, with ids and sequences of their own. */
export const historyOf = (messages: readonly Told[]): HistoryMessage[] =>
  messages.map((message, at) => ({
    id: `m${at + 1}`,
    sequence: at + 1,
    content: '',
    toolCallId: null,
    toolCalls: [],
    images: [],
    ...message,
  }));

export const said = (user: string, assistant: string): Told[] => [
  { role: 'USER', content: user },
  { role: 'ASSISTANT', content: assistant },
];

export const image = (byteSize: number, digest = 'a'.repeat(64)): HistoryImage => ({
  url: null,
  digest,
  mimeType: 'image/png',
  byteSize,
  isRefused: false,
});

/** Text of so many words, the same for the same seed. */
export function prose(words: number, seed = 1): string {
  const some = [
    'ledger',
    'keeps',
    'one',
    'row',
    'for',
    'every',
    'call',
    'nobody',
    'trusts',
    'float',
    'harbour',
    'ships',
  ];
  let state = seed;
  return Array.from({ length: words }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return some[state % some.length];
  }).join(' ');
}

const text = (most: number) =>
  fc.oneof(
    fc.integer({ min: 1, max: most }).map((words) => prose(words, words)),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }).map((value) => `${value}.`),
    fc.integer({ min: 1, max: most }).map((count) => '漢字かな😀'.repeat(Math.ceil(count / 4))),
    fc.integer({ min: 1, max: most }).map((count) => 'x'.repeat(count * 6)),
  );

const dataUrl = fc
  .integer({ min: 300, max: 4_000 })
  .map((length) => `see data:image/png;base64,${'A'.repeat(length)} there`);

const images = fc.array(
  fc.record({
    url: fc.constantFrom(null, 'https://example.com/a.png'),
    byteSize: fc.integer({ min: 10, max: 6_000_000 }),
    isRefused: fc.boolean(),
  }),
  { maxLength: 3 },
);

/** A step that calls tools. Some results are missing and some are of no call, as if a process had died in the middle. */
const step = (id: string): fc.Arbitrary<Told[]> =>
  fc
    .record({
      content: fc.oneof(fc.constant(''), text(60)),
      calls: fc.array(
        fc.record({
          name: fc.constantFrom('search', 'add', 'read_file'),
          given: fc.oneof(
            fc.constant({}),
            fc.constant('cut off'),
            text(200).map((query) => ({ query })),
          ),
          result: fc.option(fc.oneof(text(3_000), dataUrl), { freq: 8 }),
        }),
        { minLength: 1, maxLength: 4 },
      ),
      orphan: fc.boolean(),
    })
    .map(({ content, calls, orphan }) => [
      {
        role: 'ASSISTANT' as const,
        content,
        toolCalls: calls.map(({ name, given }, at) => ({ id: `${id}-${at}`, name, arguments: given })),
      },
      ...calls.flatMap(({ result }, at): Told[] =>
        result === null ? [] : [{ role: 'TOOL', content: result, toolCallId: `${id}-${at}` }],
      ),
      ...(orphan ? [{ role: 'TOOL' as const, content: 'of nothing', toolCallId: 'nothing' }] : []),
    ]);

const round = (id: string): fc.Arbitrary<Told[]> =>
  fc
    .record({
      user: fc.oneof({ weight: 5, arbitrary: text(80) }, { weight: 1, arbitrary: text(2_500) }),
      images,
      steps: fc
        .array(fc.nat(99), { maxLength: 4 })
        .chain((ids) => fc.tuple(...ids.map((_, at) => step(`${id}-${at}`)))),
      answer: fc.option(fc.oneof(text(200), dataUrl), { freq: 6 }),
    })
    .map(({ user, images: shown, steps, answer }) => [
      {
        role: 'USER' as const,
        content: user,
        images: shown.map((one) => ({ ...one, digest: one.url ? null : 'd'.repeat(64), mimeType: 'image/png' })),
      },
      ...steps.flat(),
      ...(answer === null ? [] : [{ role: 'ASSISTANT' as const, content: answer }]),
    ]);

/** Random histories that end where a model call is made: with a message of the user, or with results of tools. */
export const histories = fc
  .record({
    head: fc.constantFrom<Told[]>(
      [],
      [{ role: 'ASSISTANT', content: 'Welcome.' }],
      [{ role: 'TOOL', content: 'lost', toolCallId: 'lost' }],
    ),
    past: fc.array(fc.nat(), { maxLength: 24 }).chain((ids) => fc.tuple(...ids.map((_, at) => round(`p${at}`)))),
    user: text(120),
    steps: fc.array(fc.nat(), { maxLength: 6 }).chain((ids) => fc.tuple(...ids.map((_, at) => step(`c${at}`)))),
  })
  .map(({ head, past, user, steps }) =>
    historyOf([...head, ...past.flat(), { role: 'USER', content: user }, ...steps.flat()]),
  );

/** What a strict provider would refuse of a prompt. */
export const promptProblems = (messages: readonly PromptMessage[]): string[] =>
  historyProblems(
    toWireRequest({ model: 'strict', messages, temperature: null, maxOutputTokens: null }, false).messages,
  );
