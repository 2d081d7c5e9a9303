import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide } from '../../../../src/agent/context/decisions.js';
import { type History, pinFirst } from '../../../../src/agent/context/history.js';
import { planPrompt } from '../../../../src/agent/context/plan-prompt.js';
import { messagesOf, toRounds } from '../../../../src/agent/context/rounds.js';
import { TokenCounts } from '../../../../src/agent/context/token-counts.js';
import type { HistoryMessage } from '../../../../src/db/queries/load-history.js';
import { countTokens, estimatePromptTokens } from '../../../../src/model/tokens.js';
import { histories, historyOf, image, promptProblems, prose, said } from '../../../support/histories.js';

function historyFrom(messages: readonly HistoryMessage[], rest: Partial<History> = {}): History {
  const request = messages.find(({ role }) => role === 'USER') ?? null;
  return { ...pinFirst(toRounds(messages), request), summary: null, omitted: 0, ...rest };
}

function plan(messages: readonly HistoryMessage[], room: number, rest: Partial<History> = {}) {
  const history = historyFrom(messages, rest);
  const fitted = planPrompt(history, room, new TokenCounts());
  if (!fitted) throw new Error('does not fit');
  return { ...fitted, decisions: decide(fitted.plan, history) };
}

const texts = (messages: readonly { content: string }[]) => messages.map(({ content }) => content);

describe('any history', () => {
  test('becomes a prompt that strict providers take and that fits, or is refused for one message alone', () => {
    fc.assert(
      fc.property(
        histories,
        fc.integer({ min: 200, max: 12_000 }),
        fc.integer({ min: 0, max: 300 }),
        (messages, room, omitted) => {
          const history = historyFrom(messages, { omitted });
          const fitted = planPrompt(history, room, new TokenCounts());
          const current = history.rounds.at(-1)?.groups ?? [];
          const request = current[0]?.message.content ?? '';
          if (!fitted) {
            const calls = current.at(-1)?.message.toolCalls.length ?? 0;
            expect(countTokens(request) + 120 * (calls + 1)).toBeGreaterThan(room);
            return;
          }
          expect(promptProblems(fitted.messages)).toEqual([]);
          expect(estimatePromptTokens(fitted.messages)).toBe(fitted.tokens);
          expect(fitted.tokens).toBeLessThanOrEqual(room);
          expect(fitted.messages.findLast(({ role }) => role === 'user')?.content).toContain(request);
          const told = decide(fitted.plan, history).reduce((sum, { messages: count }) => sum + count, 0);
          const here = history.rounds.reduce((sum, round) => sum + messagesOf(round).length, history.first ? 1 : 0);
          expect(told).toBe(here + omitted);
        },
      ),
      { numRuns: 60 },
    );
  }, 60_000);

  test('never has words of this server in the mouth of the user, but where an image stood', () => {
    fc.assert(
      fc.property(histories, fc.integer({ min: 200, max: 6_000 }), (messages, room) => {
        const fitted = planPrompt(historyFrom(messages), room, new TokenCounts());
        const words = messages.filter(({ role }) => role === 'USER').map(({ content }) => content);
        for (const { role, content } of fitted?.messages ?? []) {
          if (role !== 'user') continue;
          const own = content.replace(/(\n\n)?\[\d+ images? [^\]]*\]$/, '').replace(/ \[…\]$/, '');
          expect(words.some((text) => text.startsWith(own))).toBe(true);
        }
      }),
      { numRuns: 20 },
    );
  }, 60_000);
});

describe('a history that fits', () => {
  test('is told as it was written', () => {
    const messages = historyOf([...said('one', 'two'), { role: 'USER', content: 'three' }]);
    const { messages: prompt, decisions } = plan(messages, 1_000);
    expect(texts(prompt)).toEqual(['one', 'two', 'three']);
    expect(decisions.map(({ decision }) => decision)).toEqual(['kept', 'kept']);
  });
});

describe('a history that does not fit', () => {
  const many = (rounds: number, words: number) =>
    historyOf([
      { role: 'USER', content: 'Plan a trip to the harbour town of Kiel.' },
      { role: 'ASSISTANT', content: prose(words) },
      ...Array.from({ length: rounds }, (_, at) =>
        said(`question ${at}: ${prose(words, at + 2)}`, prose(words, at + 50)),
      ).flat(),
      { role: 'USER', content: 'and now?' },
    ]);

  test('loses images before words', () => {
    const messages = historyOf([
      { role: 'USER', content: 'what is this?', images: [image(2_000_000)] },
      { role: 'ASSISTANT', content: 'a ship' },
      ...Array.from({ length: 20 }, (_, at) => said(`short ${at}`, `answer ${at}`)).flat(),
      { role: 'USER', content: 'go on' },
    ]);
    const prompt = plan(messages, 700).messages;
    expect(texts(prompt).slice(1)).toEqual(texts(messages).slice(1));
    expect(prompt[0]).toMatchObject({ images: [], content: expect.stringContaining('1 image not shown again') });
  });

  test('loses long old results before words, and only when that helps', () => {
    const call = (id: string, result: string) => [
      { role: 'USER' as const, content: `look up ${id}` },
      { role: 'ASSISTANT' as const, toolCalls: [{ id, name: 'search', arguments: { id } }] },
      { role: 'TOOL' as const, content: result, toolCallId: id },
      { role: 'ASSISTANT' as const, content: `found ${id}` },
    ];
    const messages = historyOf([
      ...call('a', prose(800)),
      ...call('b', 'short result'),
      ...Array.from({ length: 4 }, (_, at) => said(`q${at}`, `a${at}`)).flat(),
      { role: 'USER', content: 'go on' },
    ]);
    const { messages: prompt, decisions } = plan(messages, 600);
    const results = prompt.filter(({ role }) => role === 'tool');
    expect(results[0]?.content).toMatch(/^\[shortened: a result of [\d,]+ characters, beginning: /);
    expect(results[1]?.content).toBe('short result');
    expect(texts(prompt.filter(({ role }) => role !== 'tool'))).toEqual(
      texts(messages.filter(({ role }) => role !== 'TOOL')),
    );
    expect(decisions.filter(({ decision }) => decision !== 'kept')).toEqual([
      { from: 3, to: 3, messages: 1, decision: 'compressed', level: 2, why: 'older' },
    ]);
  });

  test('keeps the first request and the last rounds whole, and shortens between them by degrees', () => {
    const messages = many(30, 60);
    for (const room of [4_000, 3_000, 2_000, 1_200]) {
      const { messages: prompt, tokens, decisions } = plan(messages, room);
      expect(tokens).toBeGreaterThan(room * 0.7);
      expect(prompt[0]?.content).toBe('Plan a trip to the harbour town of Kiel.');
      expect(texts(prompt).slice(-7)).toEqual(texts(messages).slice(-7));
      expect(decisions.some(({ decision }) => decision === 'compressed')).toBe(true);
    }
    const levels = (room: number) => new Set(plan(messages, room).decisions.map(({ level }) => level));
    expect(levels(4_000)).toEqual(new Set([0, 1]));
    expect(levels(1_000)).toContain(3);
  });

  test('keeps more of what has to do with the question', () => {
    const messages = [...many(20, 40)];
    const about = messages.findIndex(({ content }) => content.startsWith('question 4:'));
    messages[about] = {
      ...(messages[about] as HistoryMessage),
      content: `question 4: the ferry to Laboe ${prose(60)}`,
    };
    messages[messages.length - 1] = {
      ...(messages.at(-1) as HistoryMessage),
      content: 'when does the ferry to Laboe leave?',
    };
    const { decisions } = plan(messages, 1500);
    const levelOf = (sequence: number) => decisions.find(({ from, to }) => from <= sequence && sequence <= to)?.level;
    expect(levelOf(about + 1)).toBeLessThan(Number(levelOf(about + 3)));
  });

  test('is told by its first request and its last rounds when nothing else helps', () => {
    const { messages: prompt, decisions } = plan(many(30, 60), 500);
    expect(prompt[0]?.content).toBe('Plan a trip to the harbour town of Kiel.');
    expect(prompt[1]).toMatchObject({
      role: 'assistant',
      content: expect.stringMatching(/^\[\d+ messages left out here\]/),
    });
    expect(prompt.at(-1)?.content).toBe('and now?');
    expect(decisions.some(({ decision }) => decision === 'dropped')).toBe(true);
  });

  test('tells its summary once, behind the first request, and what was not read as left out', () => {
    const summary = { content: 'They met in Kiel.', from: 2, through: 90, messages: 89, sourceTokens: 9_000 };
    const first = { ...(many(0, 1)[0] as HistoryMessage) };
    const { messages: prompt, decisions } = plan(many(3, 20).slice(2), 2_000, { first, summary, omitted: 7 });
    expect(prompt[1]?.role).toBe('assistant');
    expect(prompt[1]?.content).toContain('They met in Kiel.');
    expect(prompt[1]?.content).toContain('[7 messages left out here]');
    expect(decisions.slice(0, 3).map(({ why, messages: count }) => [why, count])).toEqual([
      ['first request', 1],
      ['summary', 89],
      ['not read', 7],
    ]);
  });
});

describe('a turn that outgrows the window by itself', () => {
  const steps = (count: number, words: (at: number) => number) =>
    historyOf([
      ...said('hello', 'hi'),
      { role: 'USER', content: 'read everything' },
      ...Array.from({ length: count }, (_, at) => [
        { role: 'ASSISTANT' as const, toolCalls: [{ id: `c${at}`, name: 'read_file', arguments: { at } }] },
        { role: 'TOOL' as const, content: prose(words(at), at + 1), toolCallId: `c${at}` },
      ]).flat(),
    ]);

  test('gives up old results, and keeps the last', () => {
    const messages = steps(12, (at) => 100 * (at + 1));
    const { messages: prompt } = plan(messages, 3_000);
    expect(prompt.at(-1)?.content).toBe(messages.at(-1)?.content);
    expect(prompt.find(({ content }) => content === 'read everything')).toBeDefined();
  });

  test('cuts a last result that is larger than the window, with a note', () => {
    const { messages: prompt } = plan(
      steps(1, () => 20_000),
      1_000,
    );
    expect(prompt.at(-1)?.role).toBe('tool');
    expect(prompt.at(-1)?.content).toMatch(/\[cut: the result has [\d,]+ characters, these are the first [\d,]+\]$/);
  });

  test('mentions old steps in words of the assistant when even their notes are too many', () => {
    const { messages: prompt } = plan(
      steps(40, () => 60),
      900,
    );
    expect(prompt.filter(({ role }) => role === 'tool').length).toBeLessThan(40);
    expect(
      prompt.find(({ role, content }) => role === 'assistant' && content.includes('read_file({"at":')),
    ).toBeDefined();
  });

  test('is refused when the message alone does not fit', () => {
    expect(
      planPrompt(historyFrom(historyOf([{ role: 'USER', content: prose(3_000) }])), 1_000, new TokenCounts()),
    ).toBeNull();
  });
});
