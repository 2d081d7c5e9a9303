import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase } from '../../support/database.js';
import { runSql } from '../../support/database-server.js';
import { resetSocket } from '../../support/reset-socket.js';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';

/** A socket of a test, with all it has received. */
interface Peer {
  readonly socket: Socket;
  readonly received: () => string;
  /** Resolves when it has received this many bytes. */
  has(bytes: number): Promise<void>;
  readonly ended: Promise<'end' | string>;
}

function peer(socket: Socket): Peer {
  const parts: Buffer[] = [];
  let length = 0;
  const waiting: { bytes: number; resolve: () => void }[] = [];
  socket.on('data', (bytes) => {
    parts.push(bytes);
    length += bytes.length;
    for (const { bytes: wanted, resolve } of waiting) if (length >= wanted) resolve();
  });
  const ended = new Promise<string>((resolve) => {
    socket.once('end', () => resolve('end'));
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
  return {
    socket,
    received: () => Buffer.concat(parts).toString('latin1'),
    has: (bytes) => (length >= bytes ? Promise.resolve() : new Promise((resolve) => waiting.push({ bytes, resolve }))),
    ended,
  };
}

let server: Server;
let proxy: TcpProxy;
let peers: Socket[] = [];
const atServer: Peer[] = [];

beforeEach(async () => {
  atServer.length = 0;
  server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    peers.push(socket);
    atServer.push(peer(socket));
    server.emit('peer');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy = await startTcpProxy(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
afterEach(async () => {
  for (const socket of peers) socket.destroy();
  peers = [];
  await proxy.close();
  server.close();
});

/** A connection through the proxy, seen from its two ends and from the middle. */
async function open() {
  const middle = proxy.nextConnection();
  const arrived = once(server, 'peer');
  const { hostname, port } = new URL(proxy.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true });
  peers.push(socket);
  const client = peer(socket);
  await once(socket, 'connect');
  await arrived;
  return { client, far: atServer.at(-1) as Peer, connection: await middle };
}

async function tryToConnect(): Promise<string> {
  const { hostname, port } = new URL(proxy.url);
  const socket = connect({ host: hostname, port: Number(port) });
  const outcome = await Promise.race([
    once(socket, 'connect').then(() => 'connected'),
    once(socket, 'error').then(([error]) => (error as NodeJS.ErrnoException).code ?? ''),
  ]).catch((error: NodeJS.ErrnoException) => error.code ?? '');
  socket.destroy();
  return outcome;
}

describe('a connection through the proxy', () => {
  test('passes on bytes and FIN in both directions', async () => {
    const { client, far, connection } = await open();
    client.socket.write('hello');
    await far.has(5);
    far.socket.end('and good-bye');
    expect(await client.ended).toBe('end');
    expect(client.received()).toBe('and good-bye');
    client.socket.end('you too');
    expect(await far.ended).toBe('end');
    expect(far.received()).toBe('helloyou too');
    await connection.closed;
    expect(proxy.connections).toEqual([]);
    expect([connection.bytes('toServer'), connection.bytes('toClient')]).toEqual([12, 12]);
  });

  test('passes on RST as RST', async () => {
    const { client, far } = await open();
    client.socket.write('x');
    await far.has(1);
    resetSocket(client.socket);
    expect(await far.ended).toBe('ECONNRESET');
  });

  test('carries much data whole, slowly too', async () => {
    const { client, far } = await open();
    const block = Buffer.alloc(8_388_608, 'abcdefghij');
    proxy.delay(5);
    far.socket.end(block);
    await client.ended;
    expect(Buffer.from(client.received(), 'latin1').equals(block)).toBe(true);
  });

  test('takes its time in each direction', async () => {
    const { client, far } = await open();
    proxy.delay(60);
    const started = performance.now();
    client.socket.write('ping');
    await far.has(4);
    const there = performance.now() - started;
    far.socket.write('pong');
    await client.has(4);
    expect(there).toBeGreaterThanOrEqual(59);
    expect(performance.now() - started).toBeGreaterThanOrEqual(118);
  });
});

describe('a fault', () => {
  test('cuts after exactly so many bytes, with RST on both sides', async () => {
    const { client, far, connection } = await open();
    far.socket.write('12345');
    await client.has(5);
    connection.cutAfter('toClient', 3);
    far.socket.write('6789');
    expect(await far.ended).toBe('ECONNRESET');
    // Which of the two depends on whether the last bytes were read before the reset came.
    expect(await client.ended).toMatch(/^(ECONNRESET|end)$/);
    expect(client.received()).toBe('12345678');
  });

  test('cuts after so many bytes towards the server, politely', async () => {
    const { client, far, connection } = await open();
    connection.cutAfter('toServer', 4, 'end');
    client.socket.write('GET / HTTP/1.1\r\n');
    expect(await far.ended).toBe('end');
    expect(await client.ended).toBe('end');
    expect(far.received()).toBe('GET ');
  });

  test('cuts after a text that comes in pieces', async () => {
    const { client, far, connection } = await open();
    connection.cutAfterText('toServer', 'COMMIT');
    client.socket.write('BEGIN; COM');
    await far.has(10);
    client.socket.write('MIT; SELECT 1');
    expect(await client.ended).toBe('ECONNRESET');
    expect(far.received()).toBe('BEGIN; COMMIT');
  });

  test('stalls without closing, and goes on where it stood', async () => {
    const { client, far, connection } = await open();
    connection.stall();
    client.socket.write('question');
    far.socket.write('answer');
    // Another connection sees that time passes.
    proxy.delay(50);
    const other = await open();
    other.client.socket.write('x');
    await other.far.has(1);
    expect([client.received(), far.received()]).toEqual(['', '']);
    expect([client.socket.destroyed, far.socket.destroyed]).toEqual([false, false]);
    connection.resume();
    await Promise.all([far.has(8), client.has(6)]);
  });

  test('stalls one direction alone, and new connections when all are stalled', async () => {
    const { client, far, connection } = await open();
    connection.stall('toClient');
    client.socket.write('question');
    far.socket.write('answer');
    await far.has(8);
    expect(client.received()).toBe('');
    proxy.stall();
    const next = await open();
    next.client.socket.write('x');
    proxy.resume();
    await Promise.all([next.far.has(1), client.has(6)]);
  });

  test('makes a sender wait for a stalled receiver', async () => {
    const { client, connection } = await open();
    connection.stall('toServer');
    const block = Buffer.alloc(1_048_576);
    for (let sent = 0; sent < 64; sent += 1) client.socket.write(block);
    expect(client.socket.writableLength).toBeGreaterThan(0);
    const before = connection.bytes('toServer');
    connection.resume();
    await new Promise((resolve) => client.socket.once('drain', resolve));
    expect([before, connection.bytes('toServer') > 0]).toEqual([0, true]);
  });

  test('closes one half and leaves the other', async () => {
    const { client, far, connection } = await open();
    connection.halfClose('toClient');
    expect(await client.ended).toBe('end');
    client.socket.write('still here');
    await far.has(10);
    far.socket.write('unheard');
    far.socket.end();
    client.socket.end();
    await connection.closed;
    expect(client.received()).toBe('');
  });

  test('meets all connections at once: RST, or FIN', async () => {
    const [one, two] = [await open(), await open()];
    proxy.reset();
    expect(await Promise.all([one, two].flatMap(({ client, far }) => [client.ended, far.ended]))).toEqual(
      Array(4).fill('ECONNRESET'),
    );
    const three = await open();
    proxy.end();
    expect(await Promise.all([three.client.ended, three.far.ended])).toEqual(['end', 'end']);
  });

  test('refuses new connections and leaves those there are', async () => {
    const { client, far } = await open();
    await proxy.refuse();
    expect(await tryToConnect()).toBe('ECONNREFUSED');
    client.socket.write('still here');
    await far.has(10);
    await proxy.accept();
    expect(await tryToConnect()).toBe('connected');
    await proxy.cut();
    expect(await client.ended).toBe('ECONNRESET');
    expect(await tryToConnect()).toBe('ECONNREFUSED');
    await proxy.mend();
    expect(await tryToConnect()).toBe('connected');
  });

  test('resets when nobody listens behind it', async () => {
    const nobody = await startTcpProxy('http://127.0.0.1:1');
    try {
      const socket = connect({ host: '127.0.0.1', port: Number(new URL(nobody.url).port) });
      expect(await peer(socket).ended).toBe('ECONNRESET');
    } finally {
      await nobody.close();
    }
  });

  test('is planned for each connection before its first byte', async () => {
    proxy.onConnection((connection) => {
      if (connection.index === 1) connection.cutAfter('toServer', 0);
    });
    const first = await open();
    const second = await open();
    second.client.socket.write('x');
    expect(await second.client.ended).toBe('ECONNRESET');
    first.client.socket.write('y');
    await first.far.has(1);
    expect(second.far.received()).toBe('');
  });
});

test('a statement is carried out by Postgres whose answer is lost', async () => {
  const database = await createTestDatabase();
  const way = await startTcpProxy(database.url);
  const client = new Client({ connectionString: way.url });
  try {
    client.on('error', () => {});
    await client.connect();
    await client.query('CREATE TABLE done (what text)');
    way.connections[0]?.loseAnswerTo('INSERT');
    await expect(client.query("INSERT INTO done VALUES ('once')")).rejects.toThrow();
    expect((await runSql(database.url, 'SELECT what FROM done')).rows).toEqual([{ what: 'once' }]);
  } finally {
    await way.close();
    await database.drop();
  }
});

test.each([
  [
    'postgres://user:secret@localhost/name?sslmode=disable',
    /^postgres:\/\/user:secret@127\.0\.0\.1:\d+\/name\?sslmode=disable$/,
  ],
  ['http://127.0.0.1:9', /^http:\/\/127\.0\.0\.1:\d+$/],
  ['http://127.0.0.1:9/v1', /^http:\/\/127\.0\.0\.1:\d+\/v1$/],
  ['redis://localhost', /^redis:\/\/127\.0\.0\.1:\d+$/],
])('the way to %s keeps all but host and port', async (target, expected) => {
  const way = await startTcpProxy(target);
  expect(way.url).toMatch(expected);
  await way.close();
});
