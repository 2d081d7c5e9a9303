import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { globalId } from '../../../src/graphql/ids.js';
import { codesOf, startTestSchema, type TestSchema } from '../../support/graphql.js';
import { type RowWriter, rowWriter } from '../../support/rows.js';

const ada = { owner: 'ada', tenant: '' };
let api: TestSchema;
let write: RowWriter;

beforeAll(async () => {
  api = await startTestSchema();
  write = rowWriter(api.database.prisma);
});
afterAll(() => api.close());

interface Page {
  readonly edges: { readonly cursor: string; readonly node: { readonly id: string } }[];
  readonly pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string | null;
  };
}

/** How a list is read: a page for its arguments. */
type Read = (args: string) => Promise<Page>;

const fields = 'edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }';

const ofSession =
  (sessionId: string, list: string): Read =>
  async (args) => {
    const { data, errors } = await api.run(
      ada,
      `query ($id: ID!) { chatSession(id: $id) { ${list}(${args}) { ${fields} } } }`,
      { id: globalId('ChatSession', sessionId) },
    );
    expect(errors).toBeUndefined();
    return data.chatSession[list];
  };

const ofOwner =
  (owner: string, more: string): Read =>
  async (args) => {
    const { data, errors } = await api.run({ owner, tenant: '' }, `{ chatSessions(${args} ${more}) { ${fields} } }`);
    expect(errors).toBeUndefined();
    return data.chatSessions;
  };

/** The ids in the order of the list, met by walking from one end to the other, with every claim of a page checked. */
async function walk(read: Read, size: number, forward: boolean): Promise<string[]> {
  const met: string[] = [];
  let cursor: string | null = null;
  for (let pages = 0; ; pages += 1) {
    expect(pages).toBeLessThan(1_000);
    const at: string = cursor === null ? '' : `${forward ? 'after' : 'before'}: "${cursor}"`;
    const { edges, pageInfo } = await read(`${forward ? 'first' : 'last'}: ${size} ${at}`);
    const ids = edges.map(({ node }) => node.id);
    expect(pageInfo.startCursor).toBe(edges.at(0)?.cursor ?? null);
    expect(pageInfo.endCursor).toBe(edges.at(-1)?.cursor ?? null);
    // On the way there is something behind us exactly when we have met something.
    expect(forward ? pageInfo.hasPreviousPage : pageInfo.hasNextPage).toBe(met.length > 0);
    if (forward) met.push(...ids);
    else met.unshift(...ids);
    if (!(forward ? pageInfo.hasNextPage : pageInfo.hasPreviousPage)) return met;
    expect(edges).toHaveLength(size);
    cursor = forward ? pageInfo.endCursor : pageInfo.startCursor;
  }
}

const bothWays = async (read: Read, ids: readonly string[], size: number) => {
  expect(await walk(read, size, true)).toEqual(ids);
  expect(await walk(read, size, false)).toEqual(ids);
};

const sizes = fc.record({ length: fc.integer({ min: 0, max: 17 }), size: fc.integer({ min: 1, max: 8 }) });
const runs = { numRuns: 5 };
const numbers = (length: number) => Array.from({ length }, (_, index) => index);

describe('walking a list page by page, from either end, meets each object once and in order', () => {
  it('messages, those that were trimmed left out', async () => {
    await fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: 0, max: 9 }), async ({ length, size }, trimmed) => {
        const session = await write.session(ada);
        const ids = await write.messages(
          session,
          numbers(trimmed + length).map((index) => (index < trimmed ? { trimmedAt: new Date() } : {})),
        );
        const kept = ids.slice(trimmed).map((id) => globalId('Message', id));
        await bothWays(ofSession(session, 'messages'), kept, size);
      }),
      runs,
    );
  });

  it('model calls, many of them at the same millisecond', async () => {
    await fc.assert(
      fc.asyncProperty(sizes, async ({ length, size }) => {
        const session = await write.session(ada);
        const ids: string[] = [];
        for (const index of numbers(length)) {
          const createdAt = new Date(1_764_465_600_123 + Math.floor(index / 5));
          ids.push(globalId('ModelCall', await write.modelCall(ada, { sessionId: session, createdAt })));
        }
        await bothWays(ofSession(session, 'modelCalls'), ids, size);
      }),
      runs,
    );
  });

  it('turns and trace events', async () => {
    const session = await write.session(ada);
    const messages = await write.messages(
      session,
      numbers(11).map(() => ({})),
    );
    const turns: string[] = [];
    for (const [index, message] of messages.entries()) {
      turns.push(globalId('Turn', await write.turn(session, index + 1, message)));
    }
    const events = await write.traceEvents(
      session,
      numbers(13).map((index) => ({ type: index % 3 === 0 ? 'MODEL_CALL' : 'TURN_STARTED' })),
    );
    const calls = events.filter((_, index) => index % 3 === 0).map((id) => globalId('TraceEvent', id));
    for (const size of [1, 2, 3, 11, 13, 20]) {
      await bothWays(ofSession(session, 'turns'), turns, size);
      await bothWays(
        ofSession(session, 'traceEvents'),
        events.map((id) => globalId('TraceEvent', id)),
        size,
      );
      const filtered: Read = (args) => ofSession(session, 'traceEvents')(`types: [MODEL_CALL] ${args}`);
      await bothWays(filtered, calls, size);
    }
  });

  it('sessions in every order, many of them with the same time and cost', async () => {
    const owner = 'many';
    const rows: { id: string; at: number; cost: number }[] = [];
    for (const index of numbers(17)) {
      const at = new Date(1_764_465_600_000 + (index % 4));
      const totalCostUsd = ['0', '0.000001', '0.000000000001', '12.5'][index % 4] ?? '0';
      const id = await write.session({ owner, tenant: '' }, { createdAt: at, updatedAt: at, totalCostUsd });
      rows.push({ id, at: at.getTime(), cost: Number(totalCostUsd) });
    }
    const sorted = (value: (row: (typeof rows)[number]) => number, sign: 1 | -1) =>
      rows
        .toSorted((a, b) => sign * (value(a) - value(b) || (a.id < b.id ? -1 : 1)))
        .map(({ id }) => globalId('ChatSession', id));
    const orders = {
      UPDATED_AT_DESC: sorted(({ at }) => at, -1),
      UPDATED_AT_ASC: sorted(({ at }) => at, 1),
      CREATED_AT_DESC: sorted(({ at }) => at, -1),
      CREATED_AT_ASC: sorted(({ at }) => at, 1),
      COST_DESC: sorted(({ cost }) => cost, -1),
    };
    for (const [order, ids] of Object.entries(orders)) {
      for (const size of [1, 3, 17]) await bothWays(ofOwner(owner, `orderBy: ${order}`), ids, size);
    }
    expect(await walk(ofOwner(owner, ''), 5, true)).toEqual(orders.UPDATED_AT_DESC);
  });
});

describe('a page', () => {
  let session: string;
  let ids: string[];
  beforeAll(async () => {
    session = await write.session(ada);
    ids = (
      await write.messages(
        session,
        numbers(130).map(() => ({})),
      )
    ).map((id) => globalId('Message', id));
  });
  const page = async (args: string) => {
    const { edges, pageInfo } = await ofSession(session, 'messages')(args);
    return { ids: edges.map(({ node }) => node.id), ...pageInfo };
  };
  const cursorAt = async (position: number) => (await page(`first: 1 ${await behind(position)}`)).startCursor;
  const behind = async (position: number): Promise<string> => {
    if (position === 0) return '';
    const { endCursor } = await page(`first: ${Math.min(position, 100)}`);
    return position <= 100
      ? `after: "${endCursor}"`
      : `after: "${(await page(`first: ${position - 100} after: "${endCursor}"`)).endCursor}"`;
  };

  it('holds 20 from the front when nothing is said, and 100 when more is asked for', async () => {
    expect((await page('before: null')).ids).toEqual(ids.slice(0, 20));
    for (const first of [100, 101, 1_000_000, 2_147_483_647]) {
      expect((await page(`first: ${first}`)).ids).toEqual(ids.slice(0, 100));
      expect((await page(`last: ${first}`)).ids).toEqual(ids.slice(-100));
    }
  });

  it('is empty for 0, and still tells whether there is something', async () => {
    const empty = { ids: [], startCursor: null, endCursor: null };
    expect(await page('first: 0')).toEqual({ ...empty, hasNextPage: true, hasPreviousPage: false });
    expect(await page('last: 0')).toEqual({ ...empty, hasNextPage: false, hasPreviousPage: true });
    expect(await page(`first: 0 ${await behind(5)}`)).toEqual({ ...empty, hasNextPage: true, hasPreviousPage: true });
    expect(await page(`first: 0 ${await behind(130)}`)).toEqual({
      ...empty,
      hasNextPage: false,
      hasPreviousPage: true,
    });
  });

  it('lies between both cursors when both are given', async () => {
    const between = `${await behind(10)} before: "${await cursorAt(15)}"`;
    expect(await page(`first: 10 ${between}`)).toMatchObject({
      ids: ids.slice(10, 15),
      hasNextPage: true,
      hasPreviousPage: true,
    });
    expect((await page(`first: 2 ${between}`)).ids).toEqual(ids.slice(10, 12));
    expect((await page(`last: 2 ${between}`)).ids).toEqual(ids.slice(13, 15));
  });

  it('goes on behind a cursor whose message was deleted', async () => {
    const cursor = await cursorAt(50);
    await api.database.prisma.message.delete({ where: { sessionId_sequence: { sessionId: session, sequence: 51 } } });
    expect((await page(`first: 2 after: "${cursor}"`)).ids).toEqual(ids.slice(51, 53));
    ids.splice(50, 1);
  });

  it.each([
    ['a negative first', 'first: -1', /^first must not be negative/],
    ['the most negative last', 'last: -2147483648', /^last must not be negative/],
    ['first and last together', 'first: 1, last: 1', /not both/],
    ['a forged cursor', 'after: "bm90IGEgY3Vyc29y"', /^after must be a cursor/],
    ['a cursor of another list', 'before: "dHVybnMgMQ"', /^before must be a cursor/],
    ['an empty cursor', 'after: ""', /^after must be a cursor/],
  ])('is refused for %s, also when only the length is asked for', async (_what, args, message) => {
    for (const selection of [fields, 'totalCount']) {
      const result = await api.run(
        ada,
        `query ($id: ID!) { chatSession(id: $id) { messages(${args}) { ${selection} } } }`,
        {
          id: globalId('ChatSession', session),
        },
      );
      expect(codesOf(result)).toEqual([{ code: 'BAD_USER_INPUT', path: 'chatSession.messages' }]);
      expect(result.errors?.[0]?.message).toMatch(message);
      const list = await api.run(ada, `{ chatSessions(${args}) { ${selection} } }`);
      expect(codesOf(list)).toEqual([{ code: 'BAD_USER_INPUT', path: 'chatSessions' }]);
    }
  });

  it('shows nothing of another session when its cursor is used there', async () => {
    const other = await write.session(ada);
    const own = await write.messages(
      other,
      numbers(3).map(() => ({})),
    );
    const { edges } = await ofSession(other, 'messages')(`first: 5 after: "${await cursorAt(1)}"`);
    expect(edges.map(({ node }) => node.id)).toEqual(own.slice(2).map((id) => globalId('Message', id)));
  });
});

describe('history', () => {
  const history = async (session: string, args: string) => {
    const result = await api.run(ada, `query ($id: ID!) { chatSession(id: $id) { history${args} { content role } } }`, {
      id: globalId('ChatSession', session),
    });
    return {
      codes: codesOf(result),
      contents: result.data?.chatSession?.history.map((m: { content: string }) => m.content),
    };
  };

  it('gives what user and model said, oldest first, without tools and without what was trimmed', async () => {
    const session = await write.session(ada);
    await write.messages(session, [
      { content: 'old', trimmedAt: new Date() },
      { content: 'question' },
      { content: '', role: 'ASSISTANT' },
      { content: 'result', role: 'TOOL', toolCallId: 'call-1' },
      { content: 'answer', role: 'ASSISTANT' },
    ]);
    expect((await history(session, '')).contents).toEqual(['question', '', 'answer']);
    expect((await history(session, '(last: null)')).contents).toEqual(['question', '', 'answer']);
    expect((await history(session, '(last: 2)')).contents).toEqual(['', 'answer']);
    expect((await history(session, '(last: 0)')).contents).toEqual([]);
    expect((await history(session, '(last: 2147483647)')).contents).toEqual(['question', '', 'answer']);
    expect((await history(session, '(last: -1)')).codes).toEqual([
      { code: 'BAD_USER_INPUT', path: 'chatSession.history' },
    ]);
  });

  it('gives a conversation of 12,000 messages whole', async () => {
    const session = await write.session(ada);
    await api.database.pool.query(
      `INSERT INTO messages (id, session_id, sequence, role, content)
       SELECT gen_random_uuid(), $1, n, 'USER', n::text FROM generate_series(1, 12000) n`,
      [session],
    );
    const { contents, codes } = await history(session, '');
    expect(codes).toEqual([]);
    expect(contents).toEqual(numbers(12_000).map((index) => String(index + 1)));
  });
});
