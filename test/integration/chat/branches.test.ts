import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SeedMessage } from '../../../src/chat/service.js';
import { seedMessages } from '../../../src/db/queries/seed-messages.js';
import { inTransaction } from '../../../src/db/transaction.js';
import { newId } from '../../../src/ids.js';
import { untilBlocked } from '../../support/blocked.js';
import { codeOf, startTestChat, type TestChat } from '../../support/chat.js';
import { historyProblems } from '../../support/history.js';

let test: TestChat;
beforeAll(async () => {
  test = await startTestChat();
});
afterAll(() => test.close());

interface Row {
  id: string;
  role: string;
  content: string;
}
const retained = (sessionId: string): Promise<Row[]> =>
  test.rows(
    'SELECT id, role, content FROM messages WHERE session_id = $1 AND trimmed_at IS NULL ORDER BY sequence',
    sessionId,
  );
const text = ({ role, content }: Row) => `${role} ${content}`;

/** Results stand in a prompt in the order of their calls, which their texts are sorted by, in whatever order they came. */
function inCallOrder(texts: readonly string[]): string[] {
  const ordered: string[] = [];
  let results: string[] = [];
  for (const one of texts) {
    if (one.startsWith('TOOL ')) {
      results.push(one);
      continue;
    }
    ordered.push(...results.sort(), one);
    results = [];
  }
  return [...ordered, ...results.sort()];
}

/** What a client may do in a session; a round has as many calls as its number says, answered in reverse order. */
type Action = { readonly do: 'send' | 'regenerate' | 'say' } | { readonly do: 'round'; readonly calls: number };
const actions = fc.array(
  fc.oneof(
    fc.constantFrom<Action>({ do: 'send' }, { do: 'regenerate' }, { do: 'say' }),
    fc.record({ do: fc.constant('round' as const), calls: fc.integer({ min: 1, max: 3 }) }),
  ),
  { minLength: 1, maxLength: 6 },
);

function seedOf(action: Action, at: number): SeedMessage[] {
  if (action.do !== 'round') return [{ role: 'USER', content: `say ${at}` }];
  const ids = Array.from({ length: action.calls }, (_, call) => `call-${call}`);
  return [
    { role: 'ASSISTANT', content: '', toolCalls: ids.map((id) => ({ id, name: 'look', arguments: { at } })) },
    ...ids.toReversed().map((id): SeedMessage => ({ role: 'TOOL', content: `${at} ${id}`, toolCallId: id })),
  ];
}

async function act(sessionId: string, action: Action, at: number): Promise<void> {
  const { service } = test.chat;
  if (action.do === 'send') await service.send(test.caller, { sessionId, message: `send ${at}` });
  else if (action.do === 'regenerate') await codeOf(service.regenerate(test.caller, { sessionId }));
  else await service.seedHistory(test.caller, sessionId, seedOf(action, at));
}

describe('a fork at any message of any history', () => {
  it('holds what came before, whole rounds only, and is a prompt that a strict provider takes', async () => {
    const property = fc.asyncProperty(
      actions,
      fc.option(fc.integer({ min: 1, max: 6 })),
      fc.nat(),
      async (steps, maxHistory, point) => {
        const sessionId = await test.createSession({ maxHistory });
        for (const [at, action] of steps.entries()) await act(sessionId, action, at);
        const before = await retained(sessionId);
        const at = point % Math.max(before.length, 1);
        const end = before.findIndex(({ role }, index) => index > at && role !== 'TOOL');
        const fork = await test.chat.service.forkSession(test.caller, { sessionId, upToMessageId: before[at]?.id });

        const copies = await retained(fork.id);
        expect(copies.map(text)).toEqual(before.slice(0, end === -1 ? before.length : end).map(text));
        const [counters] = await test.rows(
          'SELECT message_count, last_message_sequence FROM chat_sessions WHERE id = $1',
          fork.id,
        );
        expect(counters).toEqual({ message_count: copies.length, last_message_sequence: copies.length });

        await test.chat.service.send(test.caller, { sessionId: fork.id, message: 'and then?' });
        const prompt = test.provider.requests.at(-1)?.body.messages ?? [];
        expect(historyProblems(prompt)).toEqual([]);
        expect(prompt.slice(1, -1).map(({ role, content }) => `${role.toUpperCase()} ${content ?? ''}`)).toEqual(
          inCallOrder(copies.map(text)),
        );
        expect(await retained(sessionId)).toEqual(before);
      },
    );
    await fc.assert(property, { numRuns: 25 });
    expect(test.provider.violations).toEqual([]);
  }, 120_000);

  it('is only for the owner of the session', async () => {
    const sessionId = await test.createSession();
    const ben = { owner: 'ben', tenant: '' };
    const { service } = test.chat;
    await service.send(test.caller, { sessionId, message: 'mine' });
    expect(await codeOf(service.forkSession(ben, { sessionId }))).toBe('NOT_FOUND');
    expect(await codeOf(service.regenerate(ben, { sessionId }))).toBe('NOT_FOUND');
    const own = (await service.createSession(ben, {})).id;
    const [message] = await retained(sessionId);
    expect(await codeOf(service.forkSession(ben, { sessionId: own, upToMessageId: message?.id }))).toBe('NOT_FOUND');
  });
});

describe('a regeneration that waits for a seed', () => {
  it('does not pass it by', async () => {
    const sessionId = await test.createSession();
    await test.chat.service.send(test.caller, { sessionId, message: 'hello' });
    const { code } = await inTransaction(test.database.pool, async (db) => {
      await seedMessages(db, {
        sessionId,
        ...test.caller,
        messages: [{ id: newId(), role: 'USER', content: 'seeded', toolCallId: null, createdAt: null }],
        toolCalls: [],
        traceId: newId(),
        trace: {},
      });
      const waiting = codeOf(test.chat.service.regenerate(test.caller, { sessionId }));
      await untilBlocked(test.database.pool);
      return { code: waiting };
    });
    expect(await code).toBe('BAD_USER_INPUT');
    expect((await retained(sessionId)).map(text)).toEqual(['USER hello', 'ASSISTANT echo: hello', 'USER seeded']);
  });
});
