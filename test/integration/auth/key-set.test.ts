import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JWK } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Authenticate, createAuthenticator } from '../../../src/auth/authenticate.js';
import {
  audience,
  issuer,
  type KeyPair,
  makeKeyPair,
  secret,
  sign,
  signWith,
  wrongKeyTokens,
} from '../../support/tokens.js';

let keys: JWK[] = [];
let status = 200;
let fetches = 0;
const server = createServer((_request, response) => {
  fetches += 1;
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ keys }));
});

let url: string;
let first: KeyPair;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
  first = await makeKeyPair('first');
});
afterAll(() => server.close());

const start = (keyCooldownMs = 60_000): Authenticate =>
  createAuthenticator({ jwtSecret: null, jwksUrl: url, issuer, audience }, { keyCooldownMs });

describe('a bearer token of a key set', () => {
  beforeEach(() => {
    keys = [first.publicJwk];
    status = 200;
    fetches = 0;
  });

  it.each(['RS256', 'PS256', 'ES256', 'EdDSA'])('is taken with %s', async (algorithm) => {
    const pair = await makeKeyPair('one', algorithm);
    keys = [pair.publicJwk];
    await expect(start()(`Bearer ${await signWith(pair)}`)).resolves.toMatchObject({ principal: { owner: 'alice' } });
  });

  it('is refused for every wrong key, without asking the key server again and again', async () => {
    const authenticate = start();
    for (const [what, authorization] of await wrongKeyTokens(first)) {
      await expect(authenticate(authorization), what).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    }
    await expect(authenticate(`Bearer ${await sign({}, secret)}`)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(fetches).toBe(1);
  });

  it('is taken after the keys were changed', async () => {
    const authenticate = start(0);
    await authenticate(`Bearer ${await signWith(first)}`);
    const second = await makeKeyPair('second');
    keys = [second.publicJwk];
    await expect(authenticate(`Bearer ${await signWith(second)}`)).resolves.toBeDefined();
    await expect(authenticate(`Bearer ${await signWith(first)}`)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('cannot be checked while the key server fails, which a client may try again', async () => {
    const authenticate = start();
    const authorization = `Bearer ${await signWith(first)}`;
    status = 503;
    await expect(authenticate(authorization)).rejects.toMatchObject({ code: 'UNAVAILABLE', retryable: true });
    status = 200;
    await expect(authenticate(authorization)).resolves.toBeDefined();
  });
});
