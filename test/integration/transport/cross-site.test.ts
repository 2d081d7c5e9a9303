import { describe, expect, it } from 'vitest';
import { gql } from '../../clients/http.js';
import { rawSocket, upgradeStatus } from '../../clients/ws.js';
import { audience, issuer, secret, sign } from '../../support/tokens.js';
import { type TestTransport, useTransport } from '../../support/transport.js';

const friend = 'https://app.example.com';
const auth = { jwtSecret: secret, jwksUrl: null, issuer, audience };
const bump = encodeURIComponent('mutation { bump }');
const ticks = encodeURIComponent('subscription { ticks(to: 1) }');
const json = { 'content-type': 'application/json', accept: 'application/json' };

const own = ({ base }: TestTransport) => base;
/** What a page of another site may be called so that it looks like this one. */
const foreignOrigins = ({ port }: TestTransport) => [
  'https://evil.example.com',
  'null',
  'file://',
  `http://127.0.0.1:${port}.evil.example.com`,
  `http://127.0.0.1.evil.example.com:${port}`,
  `http://127.0.0.1:${port + 1}`,
  `http://evil.example.com:${port}`,
  `${friend}.evil.example.com`,
  'https://app.example.com:8443',
  'http://app.example.com',
  'chrome-extension://abcdef',
  '',
];

describe('a page of another site', () => {
  it('is granted nothing by a preflight', async () => {
    const server = await useTransport({ config: { corsOrigins: [friend] } });
    for (const origin of foreignOrigins(server)) {
      const response = await fetch(server.url, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' },
      });
      const granted = [...response.headers.keys()].filter((name) => name.startsWith('access-control'));
      expect([origin, response.status, granted]).toEqual([origin, 403, []]);
    }
  });

  it('cannot run anything, whatever form of request it finds (N7)', async () => {
    const server = await useTransport({ config: { corsOrigins: [friend] } });
    const { url, activity } = server;
    for (const origin of foreignOrigins(server)) {
      const { status, body } = await gql(url, 'mutation { bump }', undefined, { headers: { origin } });
      expect([origin, status, body.errors?.[0]?.extensions?.code]).toEqual([origin, 403, 'FORBIDDEN']);
    }
    expect(activity.bumps).toBe(0);
  });

  it('cannot open a WebSocket (N6)', async () => {
    const server = await useTransport({ config: { corsOrigins: [friend] } });
    for (const origin of foreignOrigins(server)) {
      expect([origin, await upgradeStatus(server.url, { origin })]).toEqual([origin, 403]);
    }
  });

  it('cannot open a WebSocket to a server with authentication either', async () => {
    const server = await useTransport({ auth });
    expect(await upgradeStatus(server.url, { origin: 'https://evil.example.com' })).toBe(403);
  });

  it('does not become this site by pointing its own name here', async () => {
    const { url, port, base } = await useTransport();
    const host = `evil.example.com:${port}`;
    const { request } = await import('node:http');
    const answer = (path: string, headers: Record<string, string>) =>
      new Promise<number | undefined>((resolve, reject) => {
        const outgoing = request(`${base}${path}`, { method: 'POST', headers: { ...json, ...headers } }, (response) => {
          response.resume();
          resolve(response.statusCode);
        });
        outgoing.on('error', reject);
        outgoing.end('{"query":"mutation { bump }"}');
      });
    expect(await answer('/graphql', { host, origin: `http://${host}` })).toBe(403);
    expect(await answer('/', { host })).toBe(403);
    expect(await answer('/graphql', { host: `localhost:${port}` })).toBe(200);
    expect(await answer('/graphql', { host: `chat.localhost:${port}` })).toBe(200);
    expect(await answer('/graphql', { host: `[::1]:${port}` })).toBe(200);
    expect(await upgradeStatus(url, { host, origin: `http://${host}` })).toBe(403);
  });

  it('is held off by the token where there is one, so names are free there', async () => {
    const { url } = await useTransport({ auth });
    const { request } = await import('node:http');
    const authorization = `Bearer ${await sign()}`;
    const status = await new Promise((resolve) => {
      request(url, { method: 'POST', headers: { ...json, authorization, host: 'chat.example.com' } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).end('{"query":"{ hello }"}');
    });
    expect(status).toBe(200);
  });
});

describe('a request that a browser sends without asking', () => {
  const simpleForms: readonly (readonly [string, RequestInit, number])[] = [
    ['a GET for a query', { method: 'GET' }, 403],
    ['text/plain', { method: 'POST', headers: { 'content-type': 'text/plain' } }, 403],
    ['text/plain that says JSON', { method: 'POST', headers: { 'content-type': 'text/plain; application/json' } }, 403],
    ['a form', { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } }, 403],
    ['a multipart form', { method: 'POST', headers: { 'content-type': 'multipart/form-data; boundary=x' } }, 403],
    ['no type at all', { method: 'POST', headers: {} }, 403],
  ];

  it.each(simpleForms)('is refused: %s', async (_what, init, status) => {
    const { url, activity } = await useTransport();
    const isGet = init.method === 'GET';
    const body = isGet ? null : new Blob(['query=mutation{bump}']);
    const response = await fetch(isGet ? `${url}?query={hello}` : url, { ...init, body });
    expect([response.status, await response.json()]).toMatchObject([
      status,
      { errors: [{ message: expect.stringContaining('application/json'), extensions: { code: 'FORBIDDEN' } }] },
    ]);
    expect(activity.bumps).toBe(0);
  });

  it.each([
    ['a mutation', bump],
    ['a subscription', ticks],
    [
      'one of several operations',
      encodeURIComponent('query Q { hello } mutation M { bump }').concat('&operationName=M'),
    ],
  ])('cannot be a GET for %s, with or without the header', async (_what, query) => {
    const { url, activity } = await useTransport();
    for (const headers of [
      { accept: 'application/json' },
      { accept: 'text/event-stream' },
      { accept: 'image/avif,image/webp,*/*;q=0.8' },
      { accept: '*/*', 'graphql-require-preflight': '1' },
    ] as Record<string, string>[]) {
      const response = await fetch(`${url}?query=${query}`, { headers });
      await response.text();
      expect([headers, response.status, response.headers.get('allow')]).toEqual([headers, 405, 'POST']);
    }
    expect([activity.bumps, activity.open]).toEqual([0, 0]);
  });

  it('gets the page and runs nothing when it looks like a click on a link', async () => {
    const { url, activity } = await useTransport();
    const response = await fetch(`${url}?query=${bump}`, { headers: { accept: 'text/html' } });
    await response.text();
    expect(response.headers.get('content-type')).toMatch(/^text\/html/);
    expect(activity.bumps).toBe(0);
  });
});

describe('a client that may', () => {
  it('is the page of this server and pages of the list, also by preflight', async () => {
    const server = await useTransport({ config: { corsOrigins: [friend] } });
    for (const origin of [own(server), friend]) {
      const preflight = await fetch(server.url, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-anything' },
      });
      expect(preflight.status).toBe(204);
      expect(Object.fromEntries(preflight.headers)).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'GET, POST',
        vary: 'Origin',
      });
      const allowed = preflight.headers.get('access-control-allow-headers')?.split(', ');
      expect(allowed).toEqual(expect.arrayContaining(['content-type', 'authorization', 'graphql-require-preflight']));
      expect(allowed).not.toContain('x-anything');
      expect(preflight.headers.has('access-control-allow-credentials')).toBe(false);
      const answer = await gql(server.url, '{ hello }', undefined, { headers: { origin } });
      expect(answer.body).toEqual({ data: { hello: 'world' } });
      expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
      expect(await upgradeStatus(server.url, { origin })).toBe(101);
    }
  });

  it('is any program that is no browser', async () => {
    const { url } = await useTransport();
    expect((await gql(url, '{ hello }')).status).toBe(200);
    expect(await upgradeStatus(url)).toBe(101);
    const socket = await rawSocket(url);
    expect(await socket.init()).toEqual({ type: 'connection_ack' });
    await socket.close();
  });
});
