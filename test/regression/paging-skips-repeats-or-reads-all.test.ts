import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf } from '../clients/results.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient } from '../support/client.js';

// Field report A38: "has more" is always false, and a negative or huge limit reads everything.
let app: TestApp;
let client: ChatClient;
let sessionId: string;
const said = Array.from({ length: 250 }, (_, at) => `message ${at}`);

beforeAll(async () => {
  app = await startTestApp();
  client = chatClient(app.url);
  sessionId = await client.createSession();
  const messages = said.map((content, at) => ({ role: at % 2 ? 'ASSISTANT' : 'USER', content }));
  const seeded = await client.seed(sessionId, messages);
  expect(seeded.errors).toBeUndefined();
}, 60_000);
afterAll(() => app.close());

interface Page {
  readonly totalCount: number;
  readonly nodes: { readonly content: string }[];
  readonly edges: { readonly cursor: string }[];
  readonly pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string; endCursor: string };
}

type Arguments = { first?: number; last?: number; after?: string; before?: string };

const read = (args: Arguments, id = sessionId) =>
  client.run(
    `query ($id: ID!, $first: Int, $last: Int, $after: String, $before: String) {
      chatSession(id: $id) {
        messages(first: $first, last: $last, after: $after, before: $before) {
          totalCount
          nodes { content }
          edges { cursor }
          pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
        }
      }
    }`,
    { id, ...args },
  );

async function page(args: Arguments, id = sessionId): Promise<Page> {
  const { data, errors } = await read(args, id);
  expect(errors).toBeUndefined();
  return data.chatSession.messages;
}
const contents = ({ nodes }: Page) => nodes.map(({ content }) => content);

describe('walking 250 messages', () => {
  it.each([10, 100, 249, 250])(
    'with pages of %i meets each once, in order, and knows when there is more',
    async (size) => {
      const met: string[] = [];
      let after: string | undefined;
      for (;;) {
        const { pageInfo, totalCount, ...rest } = await page({ first: size, ...(after && { after }) });
        met.push(...contents({ ...rest, pageInfo, totalCount }));
        expect(totalCount).toBe(250);
        expect(pageInfo.hasNextPage).toBe(met.length < 250);
        expect(pageInfo.hasPreviousPage).toBe(after !== undefined);
        if (!pageInfo.hasNextPage) break;
        after = pageInfo.endCursor;
      }
      expect(met).toEqual(said);
    },
  );

  it('from the end backwards meets each once, too', async () => {
    const met: string[] = [];
    let before: string | undefined;
    for (;;) {
      const found = await page({ last: 40, ...(before && { before }) });
      met.unshift(...contents(found));
      expect(found.pageInfo.hasPreviousPage).toBe(met.length < 250);
      if (!found.pageInfo.hasPreviousPage) break;
      before = found.pageInfo.startCursor;
    }
    expect(met).toEqual(said);
  });

  it('neither skips nor repeats when messages come and go between two pages', async () => {
    const id = await client.createSession({ maxHistory: 40 });
    await client.seed(
      id,
      Array.from({ length: 30 }, (_, at) => ({ role: at % 2 ? 'ASSISTANT' : 'USER', content: `early ${at}` })),
    );
    const first = await page({ first: 10 }, id);
    // Eight turns: 16 messages more, which pushes the first six out of the history.
    for (let turn = 0; turn < 8; turn += 1) await client.send(id, `late ${turn}`);
    const met = contents(first);
    let after: string | undefined = first.pageInfo.endCursor;
    while (after !== undefined) {
      const found: Page = await page({ first: 10, after }, id);
      met.push(...contents(found));
      after = found.pageInfo.hasNextPage ? found.pageInfo.endCursor : undefined;
    }
    const late = Array.from({ length: 8 }, (_, turn) => [`late ${turn}`, `echo: late ${turn}`]).flat();
    expect(met).toEqual([...Array.from({ length: 30 }, (_, at) => `early ${at}`), ...late]);
    const reread = await page({ first: 10 }, id);
    expect(reread.totalCount).toBe(40);
    expect(contents(reread)[0]).toBe('early 6');
  });
});

describe('a limit', () => {
  it.each([
    [{ first: 0 }, []],
    [{ last: 0 }, []],
    [{ first: 10 }, said.slice(0, 10)],
    [{ last: 10 }, said.slice(-10)],
    [{}, said.slice(0, 20)],
    [{ first: 101 }, said.slice(0, 100)],
    [{ first: 2_147_483_647 }, said.slice(0, 100)],
    [{ last: 2_147_483_647 }, said.slice(-100)],
  ])('%j gives as many as documented', async (args, expected) => {
    const found = await page(args);
    expect(contents(found)).toEqual(expected);
    expect(found.edges).toHaveLength(expected.length);
  });

  it('of 0 still knows that there is more', async () => {
    expect((await page({ first: 0 })).pageInfo.hasNextPage).toBe(true);
    expect((await page({ last: 0 })).pageInfo.hasPreviousPage).toBe(true);
  });

  it.each([{ first: -1 }, { last: -1 }, { first: -2_147_483_648 }, { first: 5, last: 5 }, { first: 2_147_483_648 }])(
    '%j is refused for every list',
    async (args) => {
      expect(codesOf(await read(args))).toEqual(['BAD_USER_INPUT']);
      const given = Object.entries(args)
        .map(([name, value]) => `${name}: ${value}`)
        .join(', ');
      for (const list of ['turns', 'modelCalls', 'traceEvents']) {
        const document = `query ($id: ID!) { chatSession(id: $id) { ${list}(${given}) { totalCount nodes { id } } } }`;
        expect(codesOf(await client.run(document, { id: sessionId })), list).toEqual(['BAD_USER_INPUT']);
      }
      expect(codesOf(await client.run(`{ chatSessions(${given}) { totalCount } }`))).toEqual(['BAD_USER_INPUT']);
    },
  );

  it('of history counts from the newest, and a negative one is refused', async () => {
    const history = (last: number | null) =>
      client.run('query ($id: ID!, $last: Int) { chatSession(id: $id) { history(last: $last) { content } } }', {
        id: sessionId,
        last,
      });
    const texts = async (last: number | null) =>
      (await history(last)).data.chatSession.history.map(({ content }: { content: string }) => content);
    expect(await texts(3)).toEqual(said.slice(-3));
    expect(await texts(0)).toEqual([]);
    expect(await texts(null)).toEqual(said);
    expect(await texts(2_147_483_647)).toEqual(said);
    expect(codesOf(await history(-1))).toEqual(['BAD_USER_INPUT']);
  });
});

describe('the list of sessions', () => {
  it('meets each session once', async () => {
    const made = [];
    for (let count = 0; count < 22; count += 1) made.push(await client.createSession({ title: 'walked' }));
    const met: string[] = [];
    let after: string | null = null;
    do {
      const { data } = await client.run(
        `query ($after: String) {
          chatSessions(first: 4, after: $after, filter: { search: "walked" }) { nodes { id } pageInfo { hasNextPage endCursor } }
        }`,
        { after },
      );
      const { nodes, pageInfo }: { nodes: { id: string }[]; pageInfo: Page['pageInfo'] } = data.chatSessions;
      met.push(...nodes.map(({ id }) => id));
      expect(pageInfo.hasNextPage).toBe(met.length < 22);
      after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
    } while (after !== null);
    expect(met).toEqual(made.toReversed());
  });
});
