import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stopOrphan } from '../../src/db/embedded/orphan.js';
import { codesOf } from '../clients/results.js';
import { chatClient } from '../support/client.js';
import { readPostmasterPid } from '../support/embedded-process.js';
import { silentLog } from '../support/log.js';
import { operatorLines } from '../support/operator-command.js';
import { isAlive } from '../support/process-state.js';
import { type ScriptedProvider, startProvider } from '../support/provider.js';
import { scriptedEnv } from '../support/scripted-env.js';
import { startServer } from '../support/server-process.js';

let provider: ScriptedProvider;
let home: string;
let env: Record<string, string>;
beforeAll(async () => {
  provider = await startProvider();
  home = await mkdtemp(join(tmpdir(), 'chatsession-operator-'));
  await chmod(home, 0o755);
  const { DATABASE_URL: _, ...rest } = scriptedEnv(provider, { url: '' });
  env = { ...rest, DATA_DIR: join(home, 'data') };
});
afterAll(async () => {
  await provider.close();
  await stopOrphan(join(home, 'data', 'postgres', 'data'), silentLog);
  await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
});

const operator = (...args: string[]) => operatorLines(env, ...args);

describe('the operator command on the embedded Postgres', { timeout: 120_000 }, () => {
  it('works before the first start of a server, beside a running one, after it has ended and after it was killed', async () => {
    const mistyped = { ...env, DATA_DIR: join(home, 'dada') };
    await expect(operatorLines(mistyped, 'budgets', 'list')).rejects.toThrow(/There is no database of a server in/);
    const tenMore = (await operator('budgets', 'set', '--owner', 'local', '--max-tokens', '10'))[0];
    expect(tenMore).toBe('owner local: 0 of any USD, 0 of 10 tokens, held 0 USD, 0 tokens');

    const server = await startServer(env);
    const client = chatClient(server.url);
    const id = await client.createSession();
    expect(codesOf(await client.trySend(id, 'too long for ten tokens'))).toEqual(['BUDGET_EXCEEDED']);
    await operator('budgets', 'set', '--owner', 'local', '--max-tokens', '1000000');
    const { tokensUsed } = await client.send(id, 'one');
    const spent = /^owner local: \S+ of any USD, (\d+) of 1000000 tokens, held 0 USD, 0 tokens$/;
    expect((await operator('budgets', 'list'))[0]).toMatch(spent);
    expect(spent.exec((await operator('budgets', 'list'))[0] ?? '')?.[1]).toBe(String(tokensUsed));
    expect((await client.send(id, 'two')).finishReason).toBe('STOP');
    const beside = await operator('ledger');
    expect(beside).toHaveLength(3);
    expect(await server.end('SIGTERM')).toBe(0);

    expect(await operator('ledger')).toEqual(beside);
    // It leaves nothing behind that a server would stumble over.
    const next = await startServer(env);
    expect((await chatClient(next.url).send(id, 'three')).finishReason).toBe('STOP');
    await next.end('SIGKILL');
    const orphan = await readPostmasterPid(String(env.DATA_DIR));
    expect(await operator('ledger')).toHaveLength(4);

    // A copy of a folder that is in use brings the pid file of the other one, and is a database of its own.
    const copy = { ...env, DATA_DIR: join(home, 'copy') };
    await promisify(execFile)('cp', ['-a', String(env.DATA_DIR), copy.DATA_DIR]);
    await operatorLines(copy, 'budgets', 'remove', '--owner', 'local');
    expect(await operator('budgets', 'list')).toHaveLength(1);
    expect((await operator('budgets', 'list'))[0]).toMatch(spent);
    expect(await operatorLines(copy, 'budgets', 'list')).toEqual(['No owner and no tenant has a limit.']);

    process.kill(orphan, 'SIGKILL');
    await expect.poll(() => isAlive(orphan), { timeout: 5_000 }).toBe(false);
    // The number in its file belongs to somebody else by now, as after a restart of the machine.
    const pidFile = join(String(env.DATA_DIR), 'postgres', 'data', 'postmaster.pid');
    const lines = (await readFile(pidFile, 'utf8')).split('\n');
    await writeFile(pidFile, [process.pid, ...lines.slice(1)].join('\n'));
    expect(await operator('ledger')).toHaveLength(4);
  });
});
