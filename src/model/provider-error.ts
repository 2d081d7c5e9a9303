import { APIConnectionError, APIError } from 'openai';
import { ModelError, type ModelErrorCode } from './port.js';
import { parseRetryAfter } from './retry-after.js';
import { BadStreamError } from './sse.js';

/**
 * Error codes of providers that may stand in the log. Whatever else comes is dropped: a provider can put anything into
 * its codes, also parts of a key.
 */
const knownCodes = new Set([
  'billing_hard_limit_reached',
  'content_filter',
  'content_policy_violation',
  'context_length_exceeded',
  'insufficient_quota',
  'invalid_api_key',
  'invalid_request_error',
  'invalid_value',
  'model_not_found',
  'overloaded_error',
  'rate_limit_error',
  'rate_limit_exceeded',
  'server_error',
  'string_above_max_length',
  'unsupported_parameter',
  'unsupported_value',
]);

/** Quota is no rate: waiting does not help, so asking again only costs time. */
const quotaCodes = new Set(['insufficient_quota', 'billing_hard_limit_reached']);

interface Verdict {
  readonly code: ModelErrorCode;
  readonly retryable: boolean;
}

const unavailable: Verdict = { code: 'PROVIDER_UNAVAILABLE', retryable: true };
const refused: Verdict = { code: 'PROVIDER_REFUSED', retryable: false };

function judge(status: number, code: string | null, message: unknown): Verdict {
  if (status === 401 || status === 403) return { code: 'PROVIDER_AUTH', retryable: false };
  if (status === 429) return { code: 'PROVIDER_RATE_LIMITED', retryable: code === null || !quotaCodes.has(code) };
  if (status === 408 || status === 409 || status >= 500) return unavailable;
  if (code === 'context_length_exceeded' || saysTooLong(message)) return { code: 'CONTEXT_OVERFLOW', retryable: false };
  return refused;
}

/**
 * Compatible servers without OpenAI's code for it: vLLM and llama.cpp say "maximum context length" or "exceeds the
 * available context size". The text is only tested here, never kept.
 */
function saysTooLong(message: unknown): boolean {
  if (typeof message !== 'string') return false;
  return /(maximum|available) context (length|size|window)|context[_ ]length[_ ]exceeded|prompt is too long/i.test(
    message.slice(0, 4_096),
  );
}

function knownCode(...candidates: unknown[]): string | null {
  return candidates.find((code): code is string => typeof code === 'string' && knownCodes.has(code)) ?? null;
}

export const badResponse = (problem: string, facts: Readonly<Record<string, string | number>> = {}) =>
  new ModelError('PROVIDER_BAD_RESPONSE', true, { problem, ...facts });

/** The provider reported a failure inside of a stream that had begun well: `{"error": …}` as an event. */
export function errorOfEvent(error: unknown): ModelError {
  const fields = (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>;
  const code = knownCode(fields.code, fields.type);
  const status = [fields.status, fields.code].map(Number).find((value) => value >= 400 && value <= 599);
  const verdict = judge(status ?? statusOfCode(code), code, fields.message);
  return new ModelError(verdict.code, verdict.retryable, {
    problem: 'error event',
    ...(status === undefined ? {} : { status }),
    ...(code === null ? {} : { providerCode: code }),
  });
}

function statusOfCode(code: string | null): number {
  if (code === null || code === 'server_error' || code === 'overloaded_error') return 500;
  if (code === 'invalid_api_key') return 401;
  return quotaCodes.has(code) || code.startsWith('rate_limit') ? 429 : 400;
}

/**
 * What went wrong at the provider or on the way, in our own words. Nothing of the provider's text, of the key or of the
 * host survives: neither in the message, nor in the facts, nor as a cause.
 *
 * @param now wall clock in milliseconds
 * @returns null for what is no fault of the provider, but one of this server
 */
export function toModelError(error: unknown, now: number): ModelError | null {
  if (error instanceof ModelError) return error;
  if (error instanceof BadStreamError) return badResponse(error.message);
  if (error instanceof APIConnectionError) {
    return new ModelError(unavailable.code, unavailable.retryable, systemCode(error.cause));
  }
  if (error instanceof APIError && typeof error.status === 'number') {
    const code = knownCode(error.code, error.type);
    const verdict = judge(error.status, code, bodyMessage(error));
    return new ModelError(
      verdict.code,
      verdict.retryable,
      { status: error.status, ...(code === null ? {} : { providerCode: code }) },
      error.headers === undefined ? null : parseRetryAfter(error.headers, now),
    );
  }
  // A connection that broke in the middle of the body: a reset, an end before the last chunk, or a broken encoding.
  const facts = systemCode(error);
  return facts.systemCode === undefined ? null : badResponse('broken stream', facts);
}

function bodyMessage(error: APIError): unknown {
  const body: unknown = error.error;
  if (typeof body === 'string') return body;
  return typeof body === 'object' && body !== null && 'message' in body ? body.message : error.message;
}

/** The operating system's name for the failure, such as ECONNREFUSED; never the text around it, which has the host. */
function systemCode(error: unknown): { readonly systemCode?: string } {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,40}$/.test(code) ? { systemCode: code } : {};
}
