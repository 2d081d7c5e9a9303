import { describe, expect, it } from 'vitest';
import { gql } from '../../clients/http.js';
import { openStream, sseClient, subscribeSse } from '../../clients/sse.js';
import { rawSocket, subscribe, wsClient } from '../../clients/ws.js';
import { audience, issuer, makeKeyPair, secret, sign, signWith, wrongTokens } from '../../support/tokens.js';
import { useTransport } from '../../support/transport.js';

const auth = { jwtSecret: secret, jwksUrl: null, issuer, audience };
const wrong = await wrongTokens();
const scope = '{ scope { owner tenant } }';
const inSeconds = (seconds: number) => Math.floor(Date.now() / 1_000) + seconds;

describe('a caller with a token', () => {
  it('is the same principal over HTTP, SSE and WebSocket', async () => {
    const { url } = await useTransport({ auth });
    const authorization = `Bearer ${await sign({ sub: 'alice', tenant: 'acme' })}`;
    const alice = { owner: 'alice', tenant: 'acme' };
    const http = await gql(url, scope, undefined, { headers: { authorization } });
    expect(http.body).toEqual({ data: { scope: alice } });
    const sse = await openStream(url, 'subscription { operation { owner tenant } }', undefined, { authorization });
    expect(await sse.nextResult()).toEqual({ data: { operation: alice } });
    for (const connectionParams of [{ authorization }, { Authorization: authorization }]) {
      const client = wsClient(url, { connectionParams });
      expect(await subscribe(client, scope).rest()).toEqual([{ data: { scope: alice } }]);
      await client.dispose();
    }
    const byHeader = await rawSocket(url, { headers: { authorization } });
    expect(await byHeader.init()).toMatchObject({ type: 'connection_ack' });
    await byHeader.close();
  });

  it('is told by the token in connectionParams where there is one, not by the header', async () => {
    const { url } = await useTransport({ auth });
    const headers = { authorization: `Bearer ${await sign({ sub: 'alice' })}` };
    const socket = await rawSocket(url, { headers });
    await socket.init({ authorization: `Bearer ${await sign({ sub: 'bob' })}` });
    socket.subscribe('1', scope);
    expect(await socket.receiveFor('1')).toMatchObject({ payload: { data: { scope: { owner: 'bob' } } } });
    await socket.close();
  });
});

describe('a caller with a wrong token (N1)', () => {
  it.each(wrong)('is refused over HTTP: %s', async (_what, authorization) => {
    const { url, activity } = await useTransport({ auth });
    const { status, headers, body } = await gql(url, 'mutation { bump }', undefined, {
      headers: authorization === null ? {} : { authorization },
    });
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toBe('Bearer');
    expect(body).toEqual({
      errors: [
        {
          message: expect.stringMatching(/^The bearer token .* sign in again\.$/),
          extensions: { code: 'UNAUTHENTICATED', retryable: false },
        },
      ],
    });
    expect(activity.bumps).toBe(0);
  });

  it('is refused over WebSocket just the same, for good', async () => {
    const { url } = await useTransport({ auth });
    for (const [what, authorization] of wrong) {
      const socket = await rawSocket(url);
      await socket.init(authorization === null ? undefined : { authorization });
      const { code, reason } = await socket.closed;
      expect([what, code]).toEqual([what, 4401]);
      expect(reason).toMatch(/^The bearer token .* sign in again\.$/);
    }
  });

  it('is not heard at all when the token has 100 kB', async () => {
    const { url } = await useTransport({ auth });
    const authorization = `Bearer ${await sign({ padding: 'x'.repeat(100_000) })}`;
    const response = await fetch(url, { method: 'POST', headers: { authorization }, body: '{}' });
    expect(response.status).toBe(431);
    const socket = await rawSocket(url);
    await socket.init({ authorization });
    expect(await socket.closed).toMatchObject({ code: 4400 });
  });

  it('cannot subscribe before the token was looked at', async () => {
    const { url, activity } = await useTransport({ auth });
    const socket = await rawSocket(url);
    socket.send({ type: 'connection_init', payload: { authorization: `Bearer ${await sign()}` } });
    socket.subscribe('1', 'subscription { silent }');
    expect(await socket.closed).toMatchObject({ code: 4401 });
    expect(activity.open).toBe(0);
  });

  it('cannot bring the token in the address, which ends up in logs (S4)', async () => {
    const { url, log } = await useTransport({ auth });
    const token = await sign();
    for (const name of ['token', 'access_token', 'authorization']) {
      const { status } = await gql(`${url}?${name}=${token}`, '{ hello }');
      expect(status).toBe(401);
      const socket = await rawSocket(`${url}?${name}=${token}`);
      await socket.init();
      expect(await socket.closed).toMatchObject({ code: 4401 });
    }
    expect(log.text()).not.toContain(token);
  });

  it('leaves a line in the log that does not hold the token', async () => {
    const { url, log } = await useTransport({ auth });
    const token = await sign({ iss: 'https://evil.example.com' });
    await gql(url, '{ hello }', undefined, { headers: { authorization: `Bearer ${token}`, 'x-request-id': 'wrong' } });
    expect(await log.line(({ requestId }) => requestId === 'wrong')).toMatchObject({
      level: 'info',
      codes: ['UNAUTHENTICATED'],
    });
    expect(log.text()).not.toContain(token);
  });
});

describe('a caller whose token cannot be checked', () => {
  it('is asked to try again, over HTTP and WebSocket', async () => {
    const { url } = await useTransport({
      auth: { jwtSecret: null, jwksUrl: 'http://127.0.0.1:9/keys', issuer: null, audience: null },
    });
    const pair = await makeKeyPair('one');
    const authorization = `Bearer ${await signWith(pair)}`;
    const { status, headers, body } = await gql(url, '{ hello }', undefined, { headers: { authorization } });
    expect([status, headers.get('retry-after')]).toEqual([503, '1']);
    expect(body.errors).toMatchObject([{ extensions: { code: 'UNAVAILABLE', retryable: true } }]);
    expect(JSON.stringify(body)).not.toMatch(/127\.0\.0\.1|ECONNREFUSED|fetch/);
    const socket = await rawSocket(url);
    await socket.init({ authorization });
    expect(await socket.closed).toEqual({ code: 1013, reason: 'Try again later' });
  });
});

describe('a token that ends while its caller listens (N4)', () => {
  it('ends the socket with 4403 within a second, and what runs on it', async () => {
    const { url, activity } = await useTransport({ auth });
    const exp = inSeconds(2);
    const socket = await rawSocket(url);
    await socket.init({ authorization: `Bearer ${await sign({ exp })}` });
    socket.subscribe('1', 'subscription { silent }');
    await activity.whenOpen(1);
    expect(await socket.closed).toEqual({ code: 4403, reason: 'Token expired' });
    expect(Date.now() - exp * 1_000).toBeGreaterThanOrEqual(0);
    expect(Date.now() - exp * 1_000).toBeLessThan(1_000);
    await activity.whenOpen(0);
  });

  it('ends an event stream without a complete, so that its client comes back', async () => {
    const { url, activity } = await useTransport({ auth });
    const exp = inSeconds(2);
    const authorization = `Bearer ${await sign({ exp })}`;
    const stream = await openStream(url, 'subscription { silent }', undefined, { authorization });
    await activity.whenOpen(1);
    expect(await stream.rest()).toEqual([]);
    expect(Date.now() - exp * 1_000).toBeLessThan(1_000);
    await activity.whenOpen(0);
  });

  it('is followed by the next one without a word to the application', async () => {
    const { url } = await useTransport({ auth });
    let tokens = 0;
    const authorization = async () => {
      tokens += 1;
      return `Bearer ${await sign(tokens === 1 ? { exp: inSeconds(1) } : {})}`;
    };
    const client = wsClient(url, {
      retryAttempts: 1,
      retryWait: async () => {},
      connectionParams: async () => ({ authorization: await authorization() }),
    });
    const overSocket = subscribe(client, 'subscription { ticks(to: 2, everyMs: 1200) }');
    expect(await overSocket.rest()).toEqual([{ data: { ticks: 1 } }, { data: { ticks: 2 } }]);
    expect(tokens).toBe(2);
    await client.dispose();
    tokens = 0;
    const events = sseClient(url, {
      retryAttempts: 1,
      retry: async () => {},
      headers: async () => ({ authorization: await authorization() }),
    });
    const overStream = subscribeSse(events, 'subscription { ticks(to: 2, everyMs: 1200) }');
    expect(await overStream.rest()).toEqual([{ data: { ticks: 1 } }, { data: { ticks: 2 } }]);
    expect(tokens).toBe(2);
  });
});
