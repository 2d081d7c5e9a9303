import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ownedSessions } from '../../../src/db/queries/owned-sessions.js';
import { pageStatement } from '../../../src/db/queries/pages.js';
import { codesOf, startTestSchema, type TestSchema } from '../../support/graphql.js';
import { type RowWriter, rowWriter } from '../../support/rows.js';

let api: TestSchema;
let write: RowWriter;

beforeAll(async () => {
  api = await startTestSchema();
  write = rowWriter(api.database.prisma);
});
afterAll(() => api.close());

describe('the filter of the list', () => {
  const who = { owner: 'filters', tenant: '' };
  const titles = async (filter: object) => {
    const { data, errors } = await api.run(
      who,
      'query ($filter: ChatSessionFilter) { chatSessions(filter: $filter, orderBy: CREATED_AT_ASC) { totalCount nodes { title } } }',
      { filter },
    );
    expect(errors).toBeUndefined();
    const found = data.chatSessions.nodes.map(({ title }: { title: string }) => title);
    expect(data.chatSessions.totalCount).toBe(found.length);
    return found;
  };

  beforeAll(async () => {
    const at = (day: number) => new Date(Date.UTC(2026, 0, day));
    await write.session(who, { title: 'one', createdAt: at(1), model: 'small' });
    await write.session(who, { title: 'two', createdAt: at(2), model: 'large' });
    await write.session(who, { title: 'three', createdAt: at(3), status: 'CLOSED', closedAt: at(4), model: 'large' });
  });

  it.each([
    ['nothing', {}, ['one', 'two', 'three']],
    ['nulls', { status: null, model: null, search: null, createdAfter: null }, ['one', 'two', 'three']],
    ['the open ones', { status: 'OPEN' }, ['one', 'two']],
    ['the closed ones', { status: 'CLOSED' }, ['three']],
    ['a model', { model: 'large' }, ['two', 'three']],
    ['a model that nobody has', { model: "x' OR true --" }, []],
    ['later than', { createdAfter: '2026-01-02T00:00:00Z' }, ['three']],
    ['earlier than, in another time zone', { createdBefore: '2026-01-02T01:00:00+01:00' }, ['one']],
    ['all at once', { status: 'OPEN', model: 'large', createdAfter: '2026-01-01T12:00:00Z' }, ['two']],
  ])('keeps %s', async (_what, filter, expected) => {
    expect(await titles(filter)).toEqual(expected);
  });

  it.each([
    ['a NUL', 'large\0'],
    ['nothing but a NUL', '\0'],
    ['half a surrogate pair', 'large\ud83d'],
  ])('refuses a model that holds %s', async (_what, model) => {
    const result = await api.run(
      who,
      'query ($filter: ChatSessionFilter) { chatSessions(filter: $filter) { totalCount } }',
      { filter: { model } },
    );
    expect(codesOf(result)).toEqual([{ code: 'BAD_USER_INPUT', path: 'chatSessions' }]);
    expect(result.errors?.[0]?.message).toMatch(/^filter\.model contains /);
  });
});

describe('search', () => {
  const who = { owner: 'searches', tenant: '' };
  const search = async (text: string | null) => {
    const result = await api.run(
      who,
      'query ($search: String) { chatSessions(filter: {search: $search}, orderBy: CREATED_AT_ASC) { nodes { title } } }',
      { search: text },
    );
    return {
      codes: codesOf(result),
      titles: result.data?.chatSessions.nodes.map(({ title }: { title: string }) => title),
    };
  };

  beforeAll(async () => {
    const talk = async (title: string, day: number, messages: Parameters<RowWriter['messages']>[1]) => {
      const id = await write.session(who, { title, createdAt: new Date(Date.UTC(2026, 0, day)) });
      await write.messages(id, messages);
    };
    await talk('Holiday plans', 1, [
      { content: 'Where do flamingos live?' },
      { content: 'Flamingos live in salt lakes.', role: 'ASSISTANT' },
    ]);
    await talk('Recipes', 2, [
      { content: 'A soup with lakes of butter' },
      { content: 'zanzibar', role: 'TOOL', toolCallId: 'c' },
      { content: 'forgotten', trimmedAt: new Date() },
    ]);
    await talk('Größe und Ärger', 3, [{ content: 'Straße nach Москва 東京' }]);
    await talk('Long', 4, [{ content: `${'word '.repeat(30_000)}beyondthecut` }]);
  });

  it.each([
    ['a word of a title', 'holiday', ['Holiday plans']],
    ['in any case', 'FLAMINGOS', ['Holiday plans']],
    ['what the model said', 'salt', ['Holiday plans']],
    ['every session with the word', 'lakes', ['Holiday plans', 'Recipes']],
    ['all words in one message, in any order', 'lakes flamingos', ['Holiday plans']],
    ['no words that are spread over messages', 'where salt', []],
    ['words that stand together', '"salt lakes"', ['Holiday plans']],
    ['no words that stand apart', '"lakes salt"', []],
    ['either word', 'butter or flamingos', ['Holiday plans', 'Recipes']],
    ['without an excluded word', 'lakes -butter', ['Holiday plans']],
    ['other scripts', 'москва', ['Größe und Ärger']],
    ['letters with marks', 'größe', ['Größe und Ärger']],
    ['no parts of words', 'flaming', []],
    ['no tool results', 'zanzibar', []],
    ['nothing that was trimmed', 'forgotten', []],
    ['everything for a blank text', '  ', ['Holiday plans', 'Recipes', 'Größe und Ärger', 'Long']],
    ['operators as words', "salt & ':* | (", ['Holiday plans']],
    ['SQL as words', "'; DROP TABLE messages; --", []],
  ])('finds %s', async (_what, text, expected) => {
    expect(await search(text)).toEqual({ codes: [], titles: expected });
  });

  it.each([
    ['only excludes', '-butter'],
    ['has no word', '!!! ??'],
    ['is only quotation marks', '""'],
    ['is too long', 'x'.repeat(1_001)],
    ['holds a NUL', 'butter\0'],
    ['holds half a surrogate pair', 'butter \ud83d'],
  ])('refuses a text that %s', async (_what, text) => {
    const { codes } = await search(text);
    expect(codes).toEqual([{ code: 'BAD_USER_INPUT', path: 'chatSessions' }]);
  });
});

describe('with 10,000 sessions and 20,000 messages of many owners', () => {
  beforeAll(async () => {
    await api.database.pool.query(`
      WITH budget AS (
        INSERT INTO budgets (id, owner) SELECT gen_random_uuid(), 'bulk' RETURNING id
      ), session AS (
        INSERT INTO chat_sessions (id, owner, tenant, input_digest, model, system_prompt, max_steps_per_turn, budget_id,
          title, created_at, updated_at, total_cost_usd)
        SELECT gen_random_uuid(), 'bulk-' || n % 50, '', 'd', 'demo', '', 10, budget.id, 'title ' || n,
          now() - n * interval '1 minute', now() - n * interval '1 minute', n * 0.0001
        FROM budget, generate_series(1, 10000) n RETURNING id
      )
      INSERT INTO messages (id, session_id, sequence, role, content)
      SELECT gen_random_uuid(), session.id, s, 'USER', 'text ' || md5(session.id::text || s) || ' common'
      FROM session, generate_series(1, 2) s`);
    await api.database.pool.query('ANALYZE');
  });

  const bulk = { owner: 'bulk-7', tenant: '' };
  const range = { after: null, before: null, forward: true, limit: 20 };
  const planOf = async (statement: { text: string; values: unknown[] }) => {
    const { text, values } = statement;
    const { rows } = await api.database.pool.query({ text: `EXPLAIN (FORMAT TEXT) ${text}`, values });
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  };

  it.each([
    ['UPDATED_AT_DESC', 'chat_sessions_tenant_owner_updated_at_id_idx'],
    ['UPDATED_AT_ASC', 'chat_sessions_tenant_owner_updated_at_id_idx'],
    ['CREATED_AT_DESC', 'chat_sessions_tenant_owner_created_at_id_idx'],
    ['CREATED_AT_ASC', 'chat_sessions_tenant_owner_created_at_id_idx'],
    ['COST_DESC', 'chat_sessions_tenant_owner_total_cost_usd_id_idx'],
  ] as const)('a page in the order %s is read off its index, without sorting', async (order, index) => {
    const plan = await planOf(pageStatement(ownedSessions(bulk, {}, order), null, range));
    expect(plan).toContain(index);
    expect(plan).not.toContain('Seq Scan');
  });

  it('a search uses both full-text indexes and never reads a whole table', async () => {
    const list = ownedSessions(bulk, { search: 'needle' }, 'UPDATED_AT_DESC');
    const plan = await planOf(pageStatement(list, null, range));
    expect(plan).toContain('messages_content_search_idx');
    expect(plan).toContain('chat_sessions_title_search_idx');
    expect(plan).not.toContain('Seq Scan');
  });

  it('a page deep in the list reads no more than a page at its start', async () => {
    const list = ownedSessions(bulk, {}, 'UPDATED_AT_DESC');
    const rowsRead = async (after: string[] | null) => {
      const { text, values } = pageStatement(list, null, { ...range, after });
      const { rows } = await api.database.pool.query({ text: `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values });
      const scanned: number[] = [];
      const visit = (node: Record<string, unknown>) => {
        if (String(node['Node Type']).includes('Scan') && node['Relation Name']) {
          scanned.push(Number(node['Actual Rows']) + Number(node['Rows Removed by Filter'] ?? 0));
        }
        for (const child of (node.Plans ?? []) as Record<string, unknown>[]) visit(child);
      };
      visit(rows[0]['QUERY PLAN'][0].Plan);
      return Math.max(...scanned);
    };
    const { rows } = await api.database.pool.query(
      `SELECT id, (extract(epoch FROM updated_at) * 1000)::bigint::text AS at FROM chat_sessions
       WHERE owner = 'bulk-7' AND tenant = '' ORDER BY updated_at DESC, id DESC OFFSET 150 LIMIT 1`,
    );
    expect(await rowsRead(null)).toBeLessThanOrEqual(21);
    expect(await rowsRead([rows[0].at, rows[0].id])).toBeLessThanOrEqual(21);
  });
});
