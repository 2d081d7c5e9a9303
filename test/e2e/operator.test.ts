import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf } from '../clients/results.js';
import { type ChatClient, chatClient, openTurn } from '../support/client.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { runSql } from '../support/database-server.js';
import { operatorLines, runOperator } from '../support/operator-command.js';
import { type ScriptedProvider, startProvider } from '../support/provider.js';
import * as script from '../support/script.js';
import { scriptedEnv } from '../support/scripted-env.js';
import { type ServerProcess, startServer } from '../support/server-process.js';

let provider: ScriptedProvider;
let database: TestDatabase;
let server: ServerProcess;
let client: ChatClient;
let env: Record<string, string>;
beforeAll(async () => {
  provider = await startProvider();
  database = await createTestDatabase();
  env = scriptedEnv(provider, database);
  server = await startServer(env);
  client = chatClient(server.url);
});
afterAll(async () => {
  await server.end('SIGTERM');
  await provider.close();
  await database.drop();
});

const operator = (...args: string[]) => operatorLines(env, ...args);

/** What the ledger says that was spent, to the last digit. */
async function ledgerSums() {
  const { rows } = await runSql<{ cost: string; tokens: string }>(
    database.url,
    `SELECT trim_scale(sum(cost_usd))::text AS cost, sum(input_tokens + output_tokens)::text AS tokens FROM model_calls`,
  );
  return rows[0] ?? { cost: '', tokens: '' };
}

describe('budgets, beside a running server', () => {
  it('count what was spent before they were set, refuse the next turn, and let it through when they are raised', async () => {
    expect(await operator('budgets', 'list')).toEqual(['No owner and no tenant has a limit.']);
    const id = await client.createSession();
    await client.send(id, 'one');
    await client.send(id, 'two');
    const { cost, tokens } = await ledgerSums();
    expect(Number(cost)).toBeGreaterThan(0);
    expect(await operator('budgets', 'set', '--owner', 'local', '--max-cost-usd', cost)).toEqual([
      `owner local: ${cost} of ${cost} USD, ${tokens} of any tokens, held 0 USD, 0 tokens`,
    ]);
    const refused = await client.trySend(id, 'three');
    expect(codesOf(refused)).toEqual(['BUDGET_EXCEEDED']);
    expect(refused.errors?.[0]?.extensions).toMatchObject({ limitScope: 'OWNER', limitKind: 'COST', held: 0 });
    await operator('budgets', 'set', '--owner', 'local', '--max-cost-usd', '1');
    expect((await client.send(id, 'three')).finishReason).toBe('STOP');
    const after = await ledgerSums();
    expect(await operator('budgets', 'list')).toEqual([
      `owner local: ${after.cost} of 1 USD, ${after.tokens} of any tokens, held 0 USD, 0 tokens`,
    ]);
    expect(await operator('budgets', 'remove', '--owner', 'local')).toEqual(['owner local has no limit any more.']);
    expect(await operator('budgets', 'remove', '--owner', 'local')).toEqual(['owner local had no limit.']);
  });

  it('hold what a call may come to that was under way when they were set, and charge it when it has ended', async () => {
    const id = await client.createSession();
    const gate = script.gate();
    provider.enqueue([script.text('begun, '), script.pause(gate), script.reply('and done')]);
    const turn = openTurn(server.url, 'ws', id, 'go');
    await turn.until(({ __typename }) => __typename === 'TextDelta');
    const [held = ''] = await operator('budgets', 'set', '--tenant', '', '--max-tokens', '100000');
    const { cost, tokens } = await ledgerSums();
    const figures = `everybody without a tenant: ${cost} of any USD, ${tokens} of 100000 tokens, held `;
    expect(held.slice(0, figures.length)).toBe(figures);
    expect(held.slice(figures.length)).toMatch(/^0\.0[1-9]\d* USD, 4\d\d\d tokens$/);
    gate.open();
    await turn.rest();
    const after = await ledgerSums();
    expect(after.tokens).not.toBe(tokens);
    expect(await operator('budgets', 'list')).toEqual([
      `everybody without a tenant: ${after.cost} of any USD, ${after.tokens} of 100000 tokens, held 0 USD, 0 tokens`,
    ]);
    await operator('budgets', 'remove', '--tenant', '');
  });

  it('of tenants and owners stand side by side, keep the limit that is not named, and lose one to none', async () => {
    await operator('budgets', 'set', '--tenant', 'acme', '--max-cost-usd', '0.000000000001');
    await operator('budgets', 'set', '--tenant', 'acme', '--owner', 'ada', '--max-tokens', '9007199254740991');
    await operator('budgets', 'set', '--tenant', 'acme', '--owner', 'ada', '--max-cost-usd', '123456789.123456789012');
    const ada = 'owner ada of tenant acme: 0 of';
    expect(await operator('budgets', 'list')).toEqual([
      'tenant acme: 0 of 0.000000000001 USD, 0 of any tokens, held 0 USD, 0 tokens',
      `${ada} 123456789.123456789012 USD, 0 of 9007199254740991 tokens, held 0 USD, 0 tokens`,
    ]);
    expect((await operator('budgets', 'set', '--tenant', 'acme', '--owner', 'ada', '--max-tokens', 'none'))[1]).toBe(
      `${ada} 123456789.123456789012 USD, 0 of any tokens, held 0 USD, 0 tokens`,
    );
    await operator('budgets', 'remove', '--tenant', 'acme');
    expect(await operator('budgets', 'list')).toHaveLength(1);
    await operator('budgets', 'remove', '--tenant', 'acme', '--owner', 'ada');
  });
});

describe('a command that is not understood', () => {
  it.each([
    ['', 'Say what is to be done.'],
    ['frobnicate', 'There is no command frobnicate.'],
    ['budgets', 'Say what is to be done with budgets: list, set or remove.'],
    ['budgets lower', 'There is no command budgets lower.'],
    ['budgets list all', "Unexpected argument 'all'"],
    ['budgets list --owner ada', "Unknown option '--owner'"],
    ['budgets set --max-tokens 5', 'Say whose budget it is: --owner, --tenant or both.'],
    ['budgets set --owner= --max-tokens 5', '--owner is empty'],
    ['budgets set --owner ada', 'Give --max-cost-usd, --max-tokens or both.'],
    ['budgets set --owner ada --max-cost-usd', "Option '--max-cost-usd <value>' argument missing"],
    ['budgets set --owner ada --max-cost-usd 1e3', '--max-cost-usd is 1e3'],
    ['budgets set --owner ada --max-cost-usd=-1', '--max-cost-usd is -1'],
    ['budgets set --owner ada --max-cost-usd 1,5', '--max-cost-usd is 1,5'],
    ['budgets set --owner ada --max-cost-usd 0.0000000000001', 'with up to 12 decimal places'],
    ['budgets set --owner ada --max-cost-usd 1000000000.01', 'from 0 to 1000000000'],
    ['budgets set --owner ada --max-tokens 1.5', '--max-tokens is 1.5: give a whole number'],
    ['budgets set --owner ada --max-tokens 9007199254740992', '--max-tokens is 9007199254740992'],
    ['budgets set --owner ada --maximum 1', "Unknown option '--maximum'"],
    ['budgets remove --owner ada --max-tokens 1', "Unknown option '--max-tokens'"],
    ['ledger --format xml', '--format is xml: give csv or jsonl.'],
    ['ledger --from yesterday', '--from is yesterday: give a date such as 2026-11-30'],
    ['ledger --from 5', '--from is 5'],
    ['ledger --to 2026-02-30', '--to is 2026-02-30'],
    [
      'ledger --to 2026-11-30T08:00',
      '--to is 2026-11-30T08:00: give a date such as 2026-11-30, or a time with its zone',
    ],
    ['ledger --from 2026-11-30 --to 2026-11-29', '--from lies behind --to.'],
  ])('says so and how it is written, before it looks for a database: %s', async (line, sentence) => {
    const nowhere = { DATABASE_URL: 'postgres://nobody@127.0.0.1:9/nothing' };
    const { code, stdout, stderr } = await runOperator(nowhere, ...line.split(' ').filter((word) => word !== ''));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const [said, ...rest] = stderr.split('\n\n');
    expect(said).toContain(sentence);
    expect(rest.join('\n\n')).toMatch(/^Usage:\n {2}budgets list\n/);
    expect(stderr).not.toMatch(/^ {4}at /m);
  });

  it('is told apart from settings that are wrong', async () => {
    const { code, stdout, stderr } = await runOperator({ PORT: 'many' }, 'budgets', 'list');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/PORT/);
    expect(stderr).not.toMatch(/Usage|^ {4}at /m);
  });
});
