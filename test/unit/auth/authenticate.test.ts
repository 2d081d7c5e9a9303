import { describe, expect, it } from 'vitest';
import { createAuthenticator } from '../../../src/auth/authenticate.js';
import { audience, goodClaims, issuer, secret, sign, wrongTokens } from '../../support/tokens.js';

const config = { jwtSecret: secret, jwksUrl: null, issuer, audience };
const authenticate = createAuthenticator(config);
const refused = await wrongTokens();

describe('a bearer token of the shared secret', () => {
  it('names the owner, the tenant and its end', async () => {
    const exp = Math.floor(Date.now() / 1_000) + 60;
    await expect(authenticate(`Bearer ${await sign({ sub: 'alice', tenant: 'acme', exp })}`)).resolves.toEqual({
      principal: { owner: 'alice', tenant: 'acme' },
      expiresAt: exp * 1_000,
    });
  });

  it('may leave out the tenant and the end', async () => {
    await expect(authenticate(`bearer ${await sign({ exp: undefined } as never)}`)).resolves.toEqual({
      principal: { owner: 'alice', tenant: '' },
      expiresAt: null,
    });
  });

  it('may name this server among several audiences', async () => {
    const token = await sign({ aud: ['another', audience] });
    await expect(authenticate(`Bearer ${token}`)).resolves.toMatchObject({ principal: { owner: 'alice' } });
  });

  it('needs neither issuer nor audience when none is configured', async () => {
    const open = createAuthenticator({ ...config, issuer: null, audience: null });
    const token = await sign({ iss: undefined, aud: undefined } as never);
    await expect(open(`Bearer ${token}`)).resolves.toMatchObject({ principal: { owner: 'alice' } });
  });

  it.each(refused)('is refused with %s', async (_what, authorization) => {
    await expect(authenticate(authorization)).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
      message: expect.stringMatching(/^The bearer token (has expired|is missing or not valid): sign in again\.$/),
    });
  });

  it('may come from an issuer whose clock is a little ahead, but ends to the second', async () => {
    let now = 1_800_000_000_000;
    const timed = createAuthenticator(config, { now: () => now });
    const seconds = now / 1_000;
    const token = await sign({ iat: seconds, nbf: seconds + 4, exp: seconds + 60 });
    await expect(timed(`Bearer ${token}`)).resolves.toMatchObject({ expiresAt: (seconds + 60) * 1_000 });
    now = (seconds + 60) * 1_000;
    await expect(timed(`Bearer ${token}`)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    now = (seconds + 59) * 1_000;
    await expect(timed(`Bearer ${token}`)).resolves.toBeDefined();
  });

  it('says why only when it has expired', async () => {
    const message = (authorization: string) => authenticate(authorization).catch((error: Error) => error.message);
    const past = goodClaims().iat as number;
    expect(await message(`Bearer ${await sign({ exp: past - 10 })}`)).toContain('expired');
    expect(await message(`Bearer ${await sign({ iss: 'x' })}`)).not.toMatch(/issuer/i);
  });
});

describe('a server without authentication', () => {
  it('takes everybody for the local user', async () => {
    const open = createAuthenticator(null);
    const local = { principal: { owner: 'local', tenant: '' }, expiresAt: null };
    await expect(open(null)).resolves.toEqual(local);
    await expect(open(`Bearer ${await sign()}`)).resolves.toEqual(local);
  });
});
