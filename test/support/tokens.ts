import { createHmac } from 'node:crypto';
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';

export const secret = 'a secret of this test, long enough for HS256';
export const issuer = 'https://issuer.example.com';
export const audience = 'chatsession';

const hour = 3_600;
const nowSeconds = () => Math.floor(Date.now() / 1_000);
const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

export const goodClaims = (claims: JWTPayload = {}): JWTPayload => ({
  iss: issuer,
  aud: audience,
  sub: 'alice',
  iat: nowSeconds(),
  exp: nowSeconds() + hour,
  ...claims,
});

/** A token of the shared secret; `undefined` takes a claim away. */
export const sign = (claims: JWTPayload = {}, key = secret, header: Record<string, unknown> = {}): Promise<string> =>
  new SignJWT(goodClaims(claims)).setProtectedHeader({ alg: 'HS256', ...header }).sign(new TextEncoder().encode(key));

/** As an attacker makes it, past all checks of a library. */
function forge(header: Record<string, unknown>, claims: JWTPayload, key: string | null): string {
  const body = `${base64url(header)}.${base64url(claims)}`;
  return `${body}.${key === null ? '' : createHmac('sha256', key).update(body).digest('base64url')}`;
}

/** Everything that is wrong with a token of the shared secret, as Authorization values. */
export async function wrongTokens(): Promise<readonly (readonly [what: string, authorization: string | null])[]> {
  const good = await sign();
  const [header, claims, signature] = good.split('.') as [string, string, string];
  const bearer = (token: string) => `Bearer ${token}`;
  return [
    ['no token', null],
    ['an empty header', ''],
    ['only the word Bearer', 'Bearer '],
    ['the token without its scheme', good],
    ['another scheme', `Basic ${Buffer.from('alice:secret').toString('base64')}`],
    ['two tokens', `Bearer ${good} ${good}`],
    ['no JSON web token', bearer('let-me-in')],
    ['algorithm none', bearer(forge({ alg: 'none' }, goodClaims(), null))],
    ['algorithm none in capitals', bearer(forge({ alg: 'NONE' }, goodClaims(), null))],
    ['no algorithm', bearer(forge({}, goodClaims(), secret))],
    ['another algorithm', bearer(forge({ alg: 'HS512' }, goodClaims(), secret))],
    ['an unknown critical header', bearer(forge({ alg: 'HS256', crit: ['exp2'], exp2: 1 }, goodClaims(), secret))],
    ['the signature of another secret', bearer(await sign({}, 'another secret, also long enough for HS256'))],
    ['no signature', bearer(`${header}.${claims}.`)],
    ['changed claims', bearer(`${header}.${base64url(goodClaims({ sub: 'mallory' }))}.${signature}`)],
    ['another issuer', bearer(await sign({ iss: 'https://evil.example.com' }))],
    ['no issuer', bearer(await sign({ iss: undefined } as never))],
    ['another audience', bearer(await sign({ aud: 'another-server' }))],
    ['no audience', bearer(await sign({ aud: undefined } as never))],
    ['an end in the past', bearer(await sign({ exp: nowSeconds() - 1 }))],
    ['an end that is no number', bearer(forge({ alg: 'HS256' }, { ...goodClaims(), exp: 'never' as never }, secret))],
    ['a beginning in the future', bearer(await sign({ nbf: nowSeconds() + hour }))],
    ['no subject', bearer(await sign({ sub: undefined } as never))],
    ['an empty subject', bearer(await sign({ sub: '' }))],
    ['a blank subject', bearer(await sign({ sub: '  ' }))],
    ['a subject that is no text', bearer(forge({ alg: 'HS256' }, { ...goodClaims(), sub: 7 as never }, secret))],
    ['a subject with a NUL', bearer(await sign({ sub: 'alice\u0000' }))],
    ['a subject with a lone surrogate', bearer(await sign({ sub: 'alice\ud800' }))],
    ['a subject of 257 characters', bearer(await sign({ sub: 'a'.repeat(257) }))],
    ['a tenant that is no text', bearer(await sign({ tenant: ['acme'] }))],
    ['a tenant with a line break', bearer(await sign({ tenant: 'acme\n' }))],
    ['10 kB', bearer(await sign({ padding: 'x'.repeat(10_000) }))],
  ];
}

export interface KeyPair {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
  readonly publicPem: string;
}

export async function makeKeyPair(kid: string, algorithm = 'RS256'): Promise<KeyPair> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid, alg: algorithm, use: 'sig' };
  return { kid, privateKey, publicJwk: jwk, publicPem: await exportSPKI(publicKey) };
}

export const signWith = (pair: KeyPair, claims: JWTPayload = {}, header: Record<string, unknown> = {}) =>
  new SignJWT(goodClaims(claims))
    .setProtectedHeader({ alg: pair.publicJwk.alg as string, kid: pair.kid, ...header })
    .sign(pair.privateKey);

/** Tokens that try to pass a server which knows `known` only, as Authorization values. */
export async function wrongKeyTokens(known: KeyPair): Promise<readonly (readonly [string, string])[]> {
  const stranger = await makeKeyPair('stranger');
  const bearer = (token: string) => `Bearer ${token}`;
  return [
    [
      'an HMAC with the public key as its secret',
      bearer(forge({ alg: 'HS256', kid: known.kid }, goodClaims(), known.publicPem)),
    ],
    ['algorithm none', bearer(forge({ alg: 'none', kid: known.kid }, goodClaims(), null))],
    ['an unknown key id', bearer(await signWith(stranger))],
    ['the key of another, under a known id', bearer(await signWith({ ...stranger, kid: known.kid }))],
    ['a key id that is a path', bearer(await signWith(stranger, {}, { kid: '../../../../dev/null' }))],
    ['a key id that is SQL', bearer(await signWith(stranger, {}, { kid: "' OR 1=1 --" }))],
    ['its own key in the header', bearer(await signWith(stranger, {}, { jwk: stranger.publicJwk }))],
    ['a key set of its own', bearer(await signWith(stranger, {}, { jku: 'http://127.0.0.1:9/keys' }))],
    ['an end in the past', bearer(await signWith(known, { exp: nowSeconds() - 1 }))],
  ];
}
