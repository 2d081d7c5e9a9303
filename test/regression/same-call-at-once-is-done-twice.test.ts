import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gql } from '../clients/http.js';
import { codesOf } from '../clients/results.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openTurn, textOf } from '../support/client.js';
import { runSql } from '../support/database-server.js';
import * as documents from '../support/documents.js';
import { startSecondApp } from '../support/second-app.js';

// Field report A80: an upsert races into a unique violation: one caller of several that do the same at the same instant
// gets an error of the database, or everybody gets an object of his own.
let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp();
  client = chatClient(app.url);
});
afterAll(() => app.close());

const twenty = <T>(action: (at: number) => Promise<T>) =>
  Promise.all(Array.from({ length: 20 }, (_, at) => action(at)));
const create = (input: Record<string, unknown>) => client.run(documents.createSession, { input });
const count = async (table: string, url = app.database.url) =>
  (await runSql<{ count: number }>(url, `SELECT count(*)::int AS count FROM ${table}`)).rows[0]?.count;

describe('20 creations with one clientSessionId at once', () => {
  it('give one session and 20 equal answers, and leave nothing else behind', async () => {
    const before = [await count('chat_sessions'), await count('budgets')];
    const input = { clientSessionId: 'draft', title: 'Draft', metadata: { b: 1, a: [2] }, budget: { maxTokens: 5 } };
    const answers = await twenty(() => create(input));
    expect(answers).toEqual(answers.map(() => ({ data: { createChatSession: { id: expect.any(String) } } })));
    expect(new Set(answers.map(({ data }) => data.createChatSession.id)).size).toBe(1);
    expect([await count('chat_sessions'), await count('budgets')]).toEqual(before.map((rows) => Number(rows) + 1));
    // And the same again, later, with the keys in another order.
    const later = await create({ ...input, metadata: { a: [2], b: 1 } });
    expect(later).toEqual(answers[0]);
  });

  it('count null and left out as the same input, except inside of the budget', async () => {
    const settings = {
      title: null,
      systemPrompt: null,
      model: null,
      maxHistory: null,
      maxStepsPerTurn: null,
      budget: null,
      shareBudgetOf: null,
      temperature: null,
      maxOutputTokens: null,
      metadata: null,
    };
    const id = await client.createSession({ clientSessionId: 'nulls' });
    for (const [name, value] of Object.entries(settings)) {
      expect([name, await client.createSession({ clientSessionId: 'nulls', [name]: value })]).toEqual([name, id]);
    }
    expect(await client.createSession({ clientSessionId: 'nulls', ...settings })).toBe(id);

    await client.createSession({ clientSessionId: 'limits', budget: { maxTokens: 5 } });
    const unlimited = await create({ clientSessionId: 'limits', budget: { maxTokens: 5, maxCostUsd: null } });
    expect(codesOf(unlimited)).toEqual(['IDEMPOTENCY_KEY_REUSED']);
  });

  it('on two servers give one session, too', async () => {
    const second = await startSecondApp(app);
    try {
      const servers = [client, chatClient(second.url)];
      const ids = await twenty((at) => (servers[at % 2] ?? client).createSession({ clientSessionId: 'two servers' }));
      expect(new Set(ids).size).toBe(1);
    } finally {
      await second.close();
    }
  });

  it('but different input give one session, and tell the others that the id is taken', async () => {
    const before = await count('chat_sessions');
    const answers = await twenty((at) => create({ clientSessionId: 'contested', title: `title ${at % 2}` }));
    const made = answers.filter(({ data }) => data);
    const refused = answers.filter(({ errors }) => errors);
    expect(made).toHaveLength(10);
    expect(new Set(made.map(({ data }) => data.createChatSession.id)).size).toBe(1);
    expect(refused.flatMap(codesOf)).toEqual(Array.from({ length: 10 }, () => 'IDEMPOTENCY_KEY_REUSED'));
    expect(await count('chat_sessions')).toBe(Number(before) + 1);
  });

  it('by different users give each his own', async () => {
    const secret = 'a secret of a test that is long enough';
    const shared = await startTestApp({ AUTH_JWT_SECRET: secret });
    try {
      const users = await Promise.all(
        ['ada', 'ben', 'cyd', 'dan'].map(async (sub) => {
          const token = await new SignJWT({ sub })
            .setProtectedHeader({ alg: 'HS256' })
            .sign(new TextEncoder().encode(secret));
          return { authorization: `Bearer ${token}` };
        }),
      );
      const ids = await twenty(async (at) => {
        const options = { headers: users[at % 4] ?? {} };
        const input = { clientSessionId: 'mine' };
        const { body } = await gql(`${shared.url}/graphql`, documents.createSession, { input }, options);
        return body.data?.createChatSession.id;
      });
      expect(new Set(ids).size).toBe(4);
      expect(ids.slice(4)).toEqual(ids.slice(0, -4));
    } finally {
      await shared.close();
    }
  });
});

describe('20 subscriptions with one clientMessageId at once', () => {
  it('over both transports follow one turn, whole', async () => {
    const sessionId = await client.createSession();
    const requests = app.provider.requests.length;
    const all = await twenty((at) =>
      openTurn(app.url, at % 2 ? 'ws' : 'sse', sessionId, 'once', { clientMessageId: 'one' }).rest(),
    );
    expect(new Set(all.map(([first]) => first.turnId)).size).toBe(1);
    for (const events of all) {
      expect(textOf(events)).toBe('echo: once');
      expect(events.at(-1)).toEqual(all[0]?.at(-1));
    }
    expect(app.provider.requests.length - requests).toBe(1);
    expect(await client.session(sessionId)).toMatchObject({ turnCount: 1, messageCount: 2 });
  });
});

describe('20 of the same change at once', () => {
  it('seeds are all there, each whole and none between another', async () => {
    const id = await client.createSession();
    const results = await twenty((at) =>
      client.seed(
        id,
        Array.from({ length: 5 }, (_, part) => ({ role: part % 2 ? 'ASSISTANT' : 'USER', content: `${at}.${part}` })),
      ),
    );
    expect(results.flatMap(codesOf)).toEqual([]);
    const { history, messageCount } = await client.session(id);
    expect(messageCount).toBe(100);
    expect(history.map(({ sequence }: { sequence: number }) => sequence)).toEqual(
      Array.from({ length: 100 }, (_, at) => at + 1),
    );
    const said: string[] = history.map(({ content }: { content: string }) => content);
    for (let at = 0; at < 100; at += 5) {
      const [seed] = String(said[at]).split('.');
      expect(said.slice(at, at + 5)).toEqual([0, 1, 2, 3, 4].map((part) => `${seed}.${part}`));
    }
  });

  it('closing a session is fine for everybody', async () => {
    const id = await client.createSession();
    const results = await twenty(() =>
      client.run('mutation ($id: ID!) { closeChatSession(id: $id) { status closedAt } }', { id }),
    );
    expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1);
    expect(results[0]?.data.closeChatSession.status).toBe('CLOSED');
  });

  it('deleting a session succeeds once, and is NOT_FOUND for the others', async () => {
    const id = await client.createSession();
    await client.send(id, 'hello');
    const results = await twenty(() => client.run('mutation ($id: ID!) { deleteChatSession(id: $id) }', { id }));
    expect(results.filter(({ data }) => data?.deleteChatSession === id)).toHaveLength(1);
    expect(results.flatMap(codesOf)).toEqual(Array.from({ length: 19 }, () => 'NOT_FOUND'));
  });

  it('changing a session never mixes two changes', async () => {
    const id = await client.createSession();
    const update = 'mutation ($input: UpdateChatSessionInput!) { updateChatSession(input: $input) { id } }';
    const results = await twenty((at) =>
      client.run(update, { input: { id, title: `title ${at}`, metadata: { at }, maxHistory: at } }),
    );
    expect(results.flatMap(codesOf)).toEqual([]);
    const { data } = await client.run('query ($id: ID!) { chatSession(id: $id) { title metadata maxHistory } }', {
      id,
    });
    const { maxHistory } = data.chatSession;
    expect(data.chatSession).toEqual({ title: `title ${maxHistory}`, metadata: { at: maxHistory }, maxHistory });
  });

  it('creating sessions that share a budget leaves one budget', async () => {
    const first = await client.createSession();
    const before = await count('budgets');
    const ids = await twenty(() => client.createSession({ shareBudgetOf: first }));
    expect(new Set(ids).size).toBe(20);
    expect(await count('budgets')).toBe(before);
  });
});
