import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { Config } from '../config.js';
import { ChatError } from '../errors.js';
import { localPrincipal, type Principal } from './principal.js';

/** Who a caller is, and until when that is sure. */
export interface Identity {
  readonly principal: Principal;
  /** Milliseconds since 1970 at which the token ends; null for one without an end and without authentication. */
  readonly expiresAt: number | null;
}

/**
 * Takes the value of an Authorization header, or the same text from a WebSocket's connectionParams.
 *
 * @throws ChatError UNAUTHENTICATED for whatever is wrong with a token, UNAVAILABLE when the keys cannot be fetched
 */
export type Authenticate = (authorization: string | null) => Promise<Identity>;

/** Longer than any sensible token, and shorter than what would be worth decoding. */
const longestToken = 8_192;
const longestName = 256;
/** For `nbf` and `iat` of an issuer whose clock is ahead. An end has no tolerance: sockets are closed at it. */
const clockToleranceSeconds = 5;

/** One family for each kind of key: a public key can never be mistaken for the secret of an HMAC. */
const secretAlgorithms = ['HS256'];
const publicKeyAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

const invalid = (cause?: unknown) =>
  new ChatError('UNAUTHENTICATED', 'The bearer token is missing or not valid: sign in again.', { cause });
const expired = () => new ChatError('UNAUTHENTICATED', 'The bearer token has expired: sign in again.');

const hasControlCharacter = (text: string) => /\p{Cc}/u.test(text);
const isName = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length <= longestName &&
  value === value.trim() &&
  value.isWellFormed() &&
  !hasControlCharacter(value);

function principalOf(claims: JWTPayload): Principal {
  const { sub, tenant = '' } = claims;
  if (!isName(sub) || sub === '' || !isName(tenant)) {
    throw invalid();
  }
  return { owner: sub, tenant };
}

/** Faults of the key server are not the caller's, who may try again with the same token. */
const isFaultOfKeyServer = (error: unknown) =>
  !(error instanceof errors.JOSEError) ||
  error instanceof errors.JWKSTimeout ||
  error instanceof errors.JWKSInvalid ||
  error.code === errors.JOSEError.code;

/**
 * Makes the one function that turns a token into a principal, for HTTP and WebSocket alike. A token must be signed
 * with the configured secret (HS256) or a key of the JWKS (RSA, EC and Ed25519 algorithms), name the configured issuer
 * and audience, and carry a `sub`; `tenant` is optional. `exp` is optional too, since the issuer decides how long its
 * tokens live, but one that is there is kept to the second.
 *
 * Without configuration everybody is the local user, whatever was sent.
 */
export function createAuthenticator(
  auth: Config['auth'],
  { now = Date.now, keyCooldownMs = 5_000 }: { readonly now?: () => number; readonly keyCooldownMs?: number } = {},
): Authenticate {
  if (auth === null) {
    const identity: Identity = { principal: localPrincipal, expiresAt: null };
    return async () => identity;
  }
  const secret = auth.jwtSecret === null ? null : new TextEncoder().encode(auth.jwtSecret);
  const keys: JWTVerifyGetKey | null =
    auth.jwksUrl === null
      ? null
      : createRemoteJWKSet(new URL(auth.jwksUrl), { timeoutDuration: 5_000, cooldownDuration: keyCooldownMs });
  const verify = (token: string) => {
    const options = {
      algorithms: keys === null ? secretAlgorithms : publicKeyAlgorithms,
      requiredClaims: ['sub'],
      clockTolerance: clockToleranceSeconds,
      currentDate: new Date(now()),
      ...(auth.issuer === null ? {} : { issuer: auth.issuer }),
      ...(auth.audience === null ? {} : { audience: auth.audience }),
    };
    if (keys !== null) {
      return jwtVerify(token, keys, options);
    }
    if (secret !== null) {
      return jwtVerify(token, secret, options);
    }
    throw new Error('authentication is configured without a key');
  };

  return async (authorization) => {
    const token = authorization === null ? null : /^Bearer +([\w.~+/=-]+)$/i.exec(authorization)?.[1];
    if (token === null || token === undefined || token.length > longestToken) {
      throw invalid();
    }
    let claims: JWTPayload;
    try {
      claims = (await verify(token)).payload;
    } catch (error) {
      if (error instanceof errors.JWTExpired) {
        throw expired();
      }
      throw isFaultOfKeyServer(error)
        ? new ChatError('UNAVAILABLE', 'Tokens cannot be checked right now. Try again in a moment.', { cause: error })
        : invalid(error);
    }
    const expiresAt = claims.exp === undefined ? null : claims.exp * 1_000;
    if (expiresAt !== null && expiresAt <= now()) {
      throw expired();
    }
    return { principal: principalOf(claims), expiresAt };
  };
}
