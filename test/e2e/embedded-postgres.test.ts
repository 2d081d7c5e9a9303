import { execFile, spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startEmbeddedPostgres } from '../../src/db/embedded/embedded-postgres.js';
import { EmbeddedPostgresError } from '../../src/db/embedded/embedded-postgres-error.js';
import { stopOrphan } from '../../src/db/embedded/orphan.js';
import { runSql } from '../support/database-server.js';
import { type EmbeddedProcess, readPostmasterPid, spawnEmbedded } from '../support/embedded-process.js';
import { silentLog } from '../support/log.js';
import { isAlive } from '../support/process-state.js';

const notes = async (url: string) =>
  (await runSql<{ note: string }>(url, 'SELECT note FROM notes ORDER BY note')).rows.map((row) => row.note);

describe('the embedded Postgres', () => {
  let templateHome: string;
  let home: string;
  let dataDir: string;
  const processes: EmbeddedProcess[] = [];

  const makeHome = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'chatsession-embedded-'));
    await chmod(folder, 0o755);
    return folder;
  };
  const kill = async ({ process: child, exited }: EmbeddedProcess) => {
    child.kill('SIGKILL');
    expect(await exited).toBe('SIGKILL');
  };

  // Making a database takes longer than everything else here, so most tests begin with a copy of this one.
  beforeAll(async () => {
    templateHome = await makeHome();
    const maker = spawnEmbedded(join(templateHome, 'data'));
    const { url = '' } = (await maker.next()) ?? {};
    await runSql(url, `CREATE TABLE notes AS SELECT 'kept' AS note`);
    maker.process.kill('SIGTERM');
    await maker.exited;
  });
  beforeEach(async () => {
    home = await makeHome();
    dataDir = join(home, 'data');
  });
  afterEach(async () => {
    for (const { process: child, exited } of processes.splice(0)) {
      child.kill('SIGKILL');
      await exited;
    }
    await stopOrphan(join(dataDir, 'postgres', 'data'), silentLog);
    await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  });
  afterAll(() => rm(templateHome, { recursive: true, force: true }));

  const launch = (then?: 'exit' | 'crash') => {
    const launched = spawnEmbedded(dataDir, then);
    processes.push(launched);
    return launched;
  };
  const start = async () => {
    const launched = launch();
    const event = await launched.next();
    if (event?.url === undefined) return expect.unreachable(`it did not start: ${event?.message}`);
    return { ...launched, url: event.url };
  };
  const copyTemplate = () => promisify(execFile)('cp', ['-a', join(templateHome, 'data'), dataDir]);
  const startOnCopy = async () => {
    await copyTemplate();
    return start();
  };
  /** Why a server of this process does not start. */
  const complaint = async () => {
    const refused = startEmbeddedPostgres({ dataDir, log: silentLog });
    await expect(refused).rejects.toThrow(EmbeddedPostgresError);
    return refused.catch((error: Error) => error.message);
  };
  const addNote = (url: string) => runSql(url, `INSERT INTO notes VALUES ('new')`);

  it('keeps its data and its password over an orderly restart', async () => {
    const first = await startOnCopy();
    await addNote(first.url);
    first.process.kill('SIGTERM');
    expect(await first.next()).toEqual({ stopped: true });
    expect(await first.exited).toBe(0);
    const second = await start();
    expect(await notes(second.url)).toEqual(['kept', 'new']);
    expect(new URL(second.url).password).toBe(new URL(first.url).password);
  });

  it('keeps what was committed when the server is killed, and ends the Postgres that it left', async () => {
    const first = await startOnCopy();
    await addNote(first.url);
    const orphan = await readPostmasterPid(dataDir);
    await kill(first);
    expect(await isAlive(orphan)).toBe(true);
    const second = await start();
    expect(await isAlive(orphan)).toBe(false);
    expect(await notes(second.url)).toEqual(['kept', 'new']);
  });

  it('keeps what was committed when the server and Postgres are killed together', async () => {
    const first = await startOnCopy();
    await addNote(first.url);
    process.kill(await readPostmasterPid(dataDir), 'SIGKILL');
    await kill(first);
    const second = await start();
    expect(await notes(second.url)).toEqual(['kept', 'new']);
  });

  it('brings Postgres back under the same URL when only Postgres is killed', async () => {
    const { url, process: child, exited } = await startOnCopy();
    await addNote(url);
    process.kill(await readPostmasterPid(dataDir), 'SIGKILL');
    await expect.poll(() => notes(url).catch(() => 'not yet'), { timeout: 10_000 }).toEqual(['kept', 'new']);
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
  });

  it('is not fooled by a pid file whose number belongs to another process by now', async () => {
    const first = await startOnCopy();
    await addNote(first.url);
    const postmaster = await readPostmasterPid(dataDir);
    // The server first: it would start another Postgres in the place of one that dies.
    await kill(first);
    process.kill(postmaster, 'SIGKILL');
    const bystander = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    try {
      const pidFile = join(dataDir, 'postgres', 'data', 'postmaster.pid');
      const lines = (await readFile(pidFile, 'utf8')).split('\n');
      await writeFile(pidFile, [bystander.pid, ...lines.slice(1)].join('\n'));
      const second = await start();
      expect(await notes(second.url)).toEqual(['kept', 'new']);
      expect(bystander.exitCode ?? bystander.signalCode).toBe(null);
    } finally {
      bystander.kill('SIGKILL');
    }
  });

  it('refuses a second server on the folder at once, and the first one does not notice', async () => {
    const first = await startOnCopy();
    expect(await complaint()).toBe(
      `The folder ${dataDir} is in use by another chatsession server (pid ${first.process.pid}). Stop it, or set DATA_DIR or DATABASE_URL.`,
    );
    expect(await notes(first.url)).toEqual(['kept']);
  });

  it('lets exactly one of several servers have a folder whose server was killed', async () => {
    await kill(await startOnCopy());
    const attempts = await Promise.allSettled(
      Array.from({ length: 10 }, () => startEmbeddedPostgres({ dataDir, log: silentLog })),
    );
    const started = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []));
    const refusals = attempts.flatMap((attempt) => (attempt.status === 'rejected' ? [String(attempt.reason)] : []));
    try {
      expect(started).toHaveLength(1);
      expect(new Set(refusals)).toEqual(
        new Set([expect.stringContaining(`in use by another chatsession server (pid ${process.pid})`)]),
      );
      expect(await notes(started[0]?.url ?? '')).toEqual(['kept']);
    } finally {
      await Promise.all(started.map((server) => server.stop()));
    }
  });

  it('starts over when its first start was killed half-way', async () => {
    const first = launch();
    const half = async () => (await readdir(dataDir).catch(() => [])).find((name) => name.startsWith('postgres.new-'));
    await expect.poll(half, { interval: 5, timeout: 10_000 }).toBeDefined();
    await expect
      .poll(async () => readdir(join(dataDir, (await half()) ?? '', 'data')), { interval: 5 })
      .not.toEqual([]);
    await kill(first);
    const second = await start();
    expect((await runSql(second.url, 'SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    expect(await half()).toBeUndefined();
  });

  it.each(['exit', 'crash'] as const)('leaves no Postgres behind on a normal %s of the process', async (then) => {
    await copyTemplate();
    const launched = launch(then);
    await launched.next();
    const postmaster = await readPostmasterPid(dataDir);
    await launched.exited;
    await expect.poll(() => isAlive(postmaster), { timeout: 5_000 }).toBe(false);
  });

  it('goes on serving when Ctrl-C reaches every process of the terminal, until it is stopped', async () => {
    const server = await startOnCopy();
    process.kill(-(server.process.pid ?? 0), 'SIGINT');
    expect(await server.next()).toEqual({ stillServing: true });
    expect(await server.exited).toBe(0);
  });

  it('is closed to everybody else, and gets none of our secrets', async () => {
    const { url } = await startOnCopy();
    const { rows } = await runSql(
      url,
      `SELECT current_setting('listen_addresses') AS addresses, current_setting('unix_socket_directories') AS sockets,
              current_setting('server_encoding') AS encoding, current_setting('max_connections')::int >= 50 AS enough`,
    );
    expect(rows).toEqual([{ addresses: '127.0.0.1', sockets: '', encoding: 'UTF8', enough: true }]);
    const modes = await Promise.all(
      ['password', 'data'].map(async (name) => (await stat(join(dataDir, 'postgres', name))).mode & 0o777),
    );
    expect(modes).toEqual([0o600, 0o700]);
    const guess = new URL(url);
    guess.password = 'postgres';
    await expect(runSql(guess.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    await runSql(url, `CREATE TABLE environment (line text); COPY environment FROM PROGRAM 'env'`);
    expect(JSON.stringify((await runSql(url, 'TABLE environment')).rows)).not.toContain('a-secret-of-ours');
  });

  it('works below a folder that only its owner may enter', async () => {
    await chmod(home, 0o700);
    const { url } = await startOnCopy();
    expect(await notes(url)).toEqual(['kept']);
  });

  it('works in a folder whose path is longer than a socket may have', async () => {
    const folder = join(home, 'long'.repeat(40));
    await mkdir(folder);
    dataDir = join(folder, 'data');
    const first = await startOnCopy();
    expect(await complaint()).toContain(`(pid ${first.process.pid})`);
    await kill(first);
    const second = await start();
    expect(await notes(second.url)).toEqual(['kept']);
  });

  describe('says in one sentence what is wrong', () => {
    it('when the folder is a file', async () => {
      await writeFile(dataDir, '');
      expect(await complaint()).toBe(`${dataDir} is a file, or lies below one: set DATA_DIR to a folder.`);
      await rm(dataDir);
    });

    it('when the folder cannot be written', async () => {
      dataDir = '/sys/chatsession';
      expect(await complaint()).toBe(
        'The folder /sys/chatsession is not writable for this server: change its owner, or set DATA_DIR to another folder.',
      );
    });

    it.each(['/proc/chatsession', '/proc/chatsession/data'])('when no folder can be made there: %s', async (folder) => {
      dataDir = folder;
      expect(await complaint()).toBe(
        `The folder ${folder} cannot be made where it should be: set DATA_DIR to another folder.`,
      );
    });

    it('when the data is of another version of Postgres', async () => {
      await copyTemplate();
      await writeFile(join(dataDir, 'postgres', 'data', 'PG_VERSION'), '13\n');
      expect(await complaint()).toMatch(
        /^The data in .* was written by Postgres 13, and this build brings Postgres 18: move it over/,
      );
    });

    it('when the folder holds something else', async () => {
      await mkdir(join(dataDir, 'postgres'), { recursive: true });
      expect(await complaint()).toMatch(/^The folder .* is not a whole database of this server: restore it/);
    });
  });
});
