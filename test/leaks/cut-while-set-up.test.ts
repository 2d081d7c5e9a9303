import { type ClientRequest, request } from 'node:http';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStream } from '../clients/sse.js';
import { rawSocket } from '../clients/ws.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { chatClient } from '../support/client.js';
import { turnEvents } from '../support/documents.js';
import { createHold, type Hold } from '../support/hold.js';
import { audience, issuer, secret, sign } from '../support/tokens.js';
import { useTransport } from '../support/transport.js';

// A subscription is cut before it is there: while its caller is looked at, while its context is made, while the
// database is asked. There are few places for subscriptions and sockets here, so one that is never given back is noticed
// by who comes afterwards.
const places = 5;
const auth = { jwtSecret: secret, jwksUrl: null, issuer, audience };
const token = `Bearer ${await sign()}`;
const silent = 'subscription { silent }';

interface Endpoint {
  readonly url: string;
  readonly query: string;
  readonly variables?: Record<string, unknown>;
}

/** Opens as many as there are places, waits until all are held, cuts them. */
type Cut = (endpoint: Endpoint, held: () => Promise<void>) => Promise<void>;

const completed: Cut = async ({ url, query, variables }, held) => {
  const socket = await rawSocket(url);
  await socket.init({ authorization: token });
  for (let id = 0; id < places; id += 1) socket.subscribe(`${id}`, query, variables);
  await held();
  for (let id = 0; id < places; id += 1) socket.complete(`${id}`);
  // A message that is answered after them shows that they were read.
  socket.send({ type: 'ping' });
  await socket.receive();
  socket.socket.terminate();
};

const terminated: Cut = async ({ url, query, variables }, held) => {
  const sockets = await Promise.all(Array.from({ length: places }, () => rawSocket(url)));
  for (const socket of sockets) {
    // The answer is not awaited, since signing in may be what is held.
    socket.send({ type: 'connection_init', payload: { authorization: token } });
  }
  const acknowledged = sockets.map(async (socket) => {
    await socket.receive();
    if (socket.socket.readyState === socket.socket.OPEN) socket.subscribe('1', query, variables);
  });
  await held();
  for (const { socket } of sockets) socket.terminate();
  await Promise.all(acknowledged);
};

const dropped: Cut = async ({ url, query, variables }, held) => {
  const requests: ClientRequest[] = Array.from({ length: places }, () => {
    const outgoing = request(url, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', authorization: token },
    });
    outgoing.on('error', () => {
      // Dropping the connection is an error of the request.
    });
    outgoing.end(JSON.stringify({ query, variables }));
    return outgoing;
  });
  await held();
  const closed = requests.map((outgoing) => new Promise((resolve) => outgoing.once('close', resolve)));
  for (const outgoing of requests) outgoing.destroy();
  await Promise.all(closed);
};

const cuts = [
  ['completed on its socket', completed],
  ['cut with its socket', terminated],
  ['cut with its event stream', dropped],
] as const;

/** Asks the server for something that it answers at once, over a connection of its own. */
async function aMomentLater(url: string): Promise<void> {
  const { body } = await fetch(url.replace('/graphql', '/healthz'));
  await body?.cancel();
}

describe.each(cuts)('a subscription that is %s', (way, cut) => {
  const phases = way.startsWith('completed') ? (['context'] as const) : (['authentication', 'context'] as const);

  it.each(phases)('during its %s leaves nothing and starts nothing', async (phase) => {
    let hold: Hold = createHold();
    const limits = { streams: places, streamsPerPrincipal: places, sockets: places, socketsPerPrincipal: places };
    const { url, activity } = await useTransport({ auth, limits, hold: { [phase]: () => hold.wait() } });
    for (let round = 0; round < 3; round += 1) {
      hold = createHold();
      await cut({ url, query: silent }, () => hold.whenWaiting(places));
      await aMomentLater(url);
      hold.release();
      await aMomentLater(url);
      expect(activity.open).toBe(0);
    }
    const streams = Array.from({ length: places }, () => openStream(url, silent, {}, { authorization: token }));
    await activity.whenOpen(places);
    for (const stream of await Promise.all(streams)) stream.drop();
    await activity.whenOpen(0);
    const sockets = await Promise.all(Array.from({ length: places }, () => rawSocket(url)));
    for (const socket of sockets) {
      expect(await socket.init({ authorization: token })).toMatchObject({ type: 'connection_ack' });
    }
    await Promise.all(sockets.map((socket) => socket.close()));
  });
});

describe.each(cuts)('while Postgres is asked for its turn, a subscription that is %s', (_way, cut) => {
  let app: TestApp;
  let blocker: pg.Client;
  let turnId: string;
  beforeAll(async () => {
    app = await startTestApp({ AUTH_JWT_SECRET: secret }, { limits: { streams: places, streamsPerPrincipal: places } });
    blocker = new pg.Client(app.database.url);
    await blocker.connect();
    const options = { headers: { authorization: token } };
    const client = chatClient(app.url, options);
    const sessionId = await client.createSession();
    turnId = (await client.send(sessionId, 'hello')).turn.id;
  });
  afterAll(async () => {
    await blocker.end();
    await app.close();
  });

  /** Resolves when so many statements wait for a lock. */
  const blocked = async (count: number) => {
    for (;;) {
      // What is read of other sessions stays the same within a transaction unless it is cleared.
      await blocker.query('SELECT pg_stat_clear_snapshot()');
      const { rows } = await blocker.query(
        `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      if (rows[0].count >= count) return;
    }
  };

  it('leaves nothing', async () => {
    const url = `${app.url}/graphql`;
    const open = () => openStream(url, turnEvents, { turnId }, { authorization: token });
    for (let round = 0; round < 3; round += 1) {
      await blocker.query('BEGIN; LOCK TABLE turns IN ACCESS EXCLUSIVE MODE');
      await cut({ url, query: turnEvents, variables: { turnId } }, () => blocked(places));
      await aMomentLater(url);
      await blocker.query('COMMIT');
    }
    const streams = await Promise.all(Array.from({ length: places }, open));
    for (const stream of streams) {
      expect((await stream.nextResult()).data?.turnEvents.__typename).toBe('TurnStarted');
      await stream.rest();
    }
  });
});
