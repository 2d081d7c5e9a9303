import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { gql } from '../../clients/http.js';
import { rawSocket } from '../../clients/ws.js';
import { useTransport } from '../../support/transport.js';

const limit = 65_536;
const config = { maxRequestBytes: limit };

/** A bare connection that goes on sending until it is stopped; what came back, and how much it could send. */
async function sendForEver(port: number, head: string, piece: Buffer) {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => {
    answer += text;
  });
  socket.on('error', () => {
    // Being cut off is what this is about.
  });
  let sent = 0;
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(head);
  const send = () => {
    while (!socket.destroyed && socket.writable) {
      sent += piece.length;
      if (!socket.write(piece)) {
        socket.once('drain', send);
        return;
      }
    }
  };
  send();
  await closed;
  return { answer, sent };
}

const head = (port: number, lines: string[]) =>
  [`POST /graphql HTTP/1.1`, `Host: 127.0.0.1:${port}`, 'Content-Type: application/json', ...lines, '', ''].join(
    '\r\n',
  );

describe('the body of a request', () => {
  it('may be as large as the limit and not one byte more', async () => {
    const { url } = await useTransport({ config });
    const bodyOf = (bytes: number) => {
      const frame = JSON.stringify({ query: 'query ($t: String!) { echo(text: $t) }', variables: { t: '' } });
      return frame.replace('"t":""', `"t":"${'x'.repeat(bytes - frame.length)}"`);
    };
    const post = (body: string) =>
      fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', accept: 'application/json' }, body });
    expect((await post(bodyOf(limit))).status).toBe(200);
    const refused = await post(bodyOf(limit + 1));
    expect([refused.status, await refused.json()]).toMatchObject([
      413,
      {
        errors: [
          {
            message: `The body is larger than ${limit} bytes: send less at once.`,
            extensions: { code: 'BAD_USER_INPUT' },
          },
        ],
      },
    ]);
  });

  it('is refused by its announced length before it is read', async () => {
    const { port } = await useTransport({ config });
    const { answer, sent } = await sendForEver(
      port,
      head(port, ['Content-Length: 10000000000']),
      Buffer.alloc(16_384, 'x'),
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('BAD_USER_INPUT');
    expect(sent).toBeLessThan(10_000_000_000);
  });

  it('is counted while it is read when it announces no length, and cut off', async () => {
    const { port, activity } = await useTransport({ config });
    const chunk = Buffer.from(`4000\r\n${'x'.repeat(0x4000)}\r\n`);
    const { answer } = await sendForEver(port, head(port, ['Transfer-Encoding: chunked']), chunk);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(activity.bumps).toBe(0);
  });

  it('does not stay in memory, however many are sent', async () => {
    const { port, url } = await useTransport({ config });
    const chunk = Buffer.from(`4000\r\n${'x'.repeat(0x4000)}\r\n`);
    const flood = () => sendForEver(port, head(port, ['Transfer-Encoding: chunked']), chunk);
    await Promise.all(Array.from({ length: 5 }, flood));
    const before = process.memoryUsage().rss;
    await Promise.all(Array.from({ length: 20 }, flood));
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
    expect((await gql(url, '{ hello }')).body).toEqual({ data: { hello: 'world' } });
  });

  it('that breaks off leaves the server as it was', async () => {
    const { url, port, log } = await useTransport({ config });
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(`${head(port, ['Content-Length: 1000', 'X-Request-Id: broken-off'])}{"query":`);
    socket.end();
    socket.resume();
    await log.line(({ requestId }) => requestId === 'broken-off');
    expect((await gql(url, '{ hello }')).body).toEqual({ data: { hello: 'world' } });
    socket.destroy();
  });

  it('that never comes ends with its time', async () => {
    const { port } = await useTransport({ timing: { requestHeaders: 100, request: 200 } });
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.resume();
    socket.write(head(port, ['Content-Length: 1000']));
    await once(socket, 'close');
  });

  it('whose headers never end ends with its time, and holds up nobody', async () => {
    const { port, url } = await useTransport({ timing: { requestHeaders: 300 } });
    const sockets = Array.from({ length: 200 }, () => connect(port, '127.0.0.1'));
    const closed = sockets.map((socket) => once(socket, 'close'));
    for (const socket of sockets) {
      socket.on('error', () => {});
      socket.resume();
      socket.write('POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\n');
    }
    expect((await gql(url, '{ hello }')).body).toEqual({ data: { hello: 'world' } });
    await Promise.all(closed);
  });
});

describe('a message of a WebSocket', () => {
  it('may be as large as the limit; a larger one ends its socket alone', async () => {
    const { url } = await useTransport({ config });
    const other = await rawSocket(url);
    await other.init();
    const socket = await rawSocket(url);
    await socket.init();
    const query = 'query ($t: String!) { echo(text: $t) }';
    const overhead = JSON.stringify({ id: '1', type: 'subscribe', payload: { query, variables: { t: '' } } }).length;
    socket.subscribe('1', query, { t: 'x'.repeat(limit - overhead) });
    expect((await socket.receiveFor('1'))?.payload.data.echo).toHaveLength(limit - overhead);
    socket.subscribe('2', query, { t: 'x'.repeat(limit - overhead + 1) });
    expect(await socket.closed).toMatchObject({ code: 1009 });
    other.subscribe('1', '{ hello }');
    expect(await other.receiveFor('1')).toMatchObject({ type: 'next' });
    await other.close();
  });

  it('of 60 MB is refused by its header, 100 times over, without taking memory', async () => {
    const { url } = await useTransport({ config });
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(60_000_000n);
    const header = Buffer.concat([Buffer.from([0x81, 0xff]), length, Buffer.alloc(4)]);
    const before = process.memoryUsage().rss;
    for (let round = 0; round < 100; round += 1) {
      const socket = await rawSocket(url);
      const connection = (socket.socket as unknown as { _socket: Socket })._socket;
      connection.write(header);
      connection.write(Buffer.alloc(100_000));
      expect(await socket.closed).toMatchObject({ code: 1009 });
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
    expect((await gql(url, '{ hello }')).body).toEqual({ data: { hello: 'world' } });
  });

  it('has to be small before the caller is known', async () => {
    const { url } = await useTransport();
    const socket = await rawSocket(url);
    socket.send({ type: 'connection_init', payload: { padding: 'x'.repeat(20_000) } });
    expect(await socket.closed).toEqual({ code: 4400, reason: 'The first message is too long' });
  });
});
