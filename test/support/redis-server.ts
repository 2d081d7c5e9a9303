import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from 'redis';
import { freePort } from './free-port.js';

type Client = ReturnType<typeof createClient>;

/** A connection that tells when it cannot be made, instead of trying for ever. */
export async function connectRedis(url: string): Promise<Client> {
  const client = createClient({ url, socket: { connectTimeout: 2_000, reconnectStrategy: false } });
  client.on('error', () => {
    // The command that fails tells; one that is idle when its server is killed has nothing to tell.
  });
  await client.connect();
  return client as Client;
}

// .ci/run fails when it reads this line: there, Redis has to be.
function saySkipped(why: string): null {
  process.stderr.write(`SKIPPED: needs Redis (${why})\n`);
  return null;
}

/** REDIS_URL, when a Redis answers there. Null, and a line that says so, when not: tests that need it are skipped. */
export async function findRedis(): Promise<string | null> {
  const url = process.env.REDIS_URL;
  if (!url) return saySkipped('REDIS_URL is not set');
  try {
    const client = await connectRedis(url);
    client.destroy();
    return url;
  } catch {
    return saySkipped('nothing answers at REDIS_URL');
  }
}

/** A Redis of a test's own, to be frozen and killed. */
export interface RedisServer {
  readonly url: string;
  freeze(): void;
  thaw(): void;
  kill(): Promise<void>;
  /** Starts it anew, empty, on the same port. */
  start(): Promise<void>;
  /** Its end, in whatever state it is. */
  close(): Promise<void>;
}

/** Whether there is a redis-server to start; a line that says so when not. */
export async function findRedisServer(): Promise<boolean> {
  const child = spawn('redis-server', ['--version'], { stdio: 'ignore' });
  const found = await Promise.race([
    once(child, 'exit').then(([code]) => code === 0),
    once(child, 'error').then(() => false),
  ]);
  if (!found) saySkipped('there is no redis-server to start');
  return found;
}

/** Starts one on a free port of loopback. It keeps nothing on disk. */
export async function startRedisServer(): Promise<RedisServer> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'chatsession-redis-'));
  const url = `redis://127.0.0.1:${port}`;
  let child: ChildProcess | null = null;

  async function start() {
    const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder];
    const server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'] });
    child = server;
    await new Promise<void>((resolve, reject) => {
      let output = '';
      server.stdout.on('data', (part) => {
        output += part;
        if (output.includes('Ready to accept connections')) resolve();
      });
      server.once('exit', () => reject(new Error(`redis-server ended:\n${output}`)));
    });
  }

  async function kill() {
    const server = child;
    child = null;
    if (!server || server.exitCode !== null) return;
    const exited = once(server, 'exit');
    server.kill('SIGKILL');
    await exited;
  }

  await start();
  return {
    url,
    freeze: () => child?.kill('SIGSTOP'),
    thaw: () => child?.kill('SIGCONT'),
    kill,
    start,
    async close() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
