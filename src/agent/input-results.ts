import type { StoredToolCall } from '../db/queries/owned-turn.js';
import type { ToolResult } from '../db/queries/store-tool-result.js';
import { canonicalJson, sha256 } from '../digest.js';
import { interruptedBy, noResult } from './tool-results.js';
import { resultText } from './tools/result-text.js';

type Input = NonNullable<StoredToolCall['input']>;

const expired = {
  QUESTION: noResult(
    'FAILED',
    'INPUT_EXPIRED',
    'The user did not answer in time. Go on without the answer: say what you assume, or what is missing.',
  ),
  APPROVAL: noResult(
    'DENIED',
    'INPUT_EXPIRED',
    'Not run: nobody allowed this call in time, which counts as a denial. Go on without it.',
  ),
  CLIENT_TOOL: noResult(
    'FAILED',
    'INPUT_EXPIRED',
    'The client gave no result in time. Whether it has done anything is not known. Go on without the result.',
  ),
} as const;

/** The result of a call that the client has run. */
function clientResult(answer: unknown, limit: number): ToolResult {
  const { result, isError } = answer as { result: string; isError: boolean };
  const text = resultText(result, limit);
  return isError
    ? noResult('FAILED', 'CLIENT_ERROR', text)
    : { status: 'SUCCEEDED', errorCode: null, result: text, durationMs: null };
}

/** What the answer to a question, or the client's result, makes of its call. Null while there is none. */
export function answeredResult({ kind, status, answer }: Input, limit: number): ToolResult | null {
  switch (status) {
    case 'PENDING':
      return null;
    case 'RESOLVED':
      return kind === 'CLIENT_TOOL'
        ? clientResult(answer, limit)
        : { status: 'SUCCEEDED', errorCode: null, result: String(answer), durationMs: null };
    case 'EXPIRED':
      return expired[kind];
    case 'CANCELLED':
      return interruptedBy(null);
  }
}

/** What an approval is bound to: another name or other arguments need another one. */
export const approvalDigest = ({ name, arguments: given }: Pick<StoredToolCall, 'name' | 'arguments'>): string =>
  sha256(canonicalJson({ name, arguments: given }));

/** Why a call that was to be approved is not run; null when it may be. */
export function denialOf(call: StoredToolCall, input: Input): ToolResult | null {
  if (input.status === 'EXPIRED') return expired.APPROVAL;
  if (input.status !== 'RESOLVED') return interruptedBy(null);
  const { approved, reason } = input.answer as { approved: boolean; reason: string | null };
  if (!approved) {
    const why = reason === null ? '' : ` Their reason: ${reason}`;
    return noResult('DENIED', 'DENIED', `Not run: the user did not allow this call. Do not try it again.${why}`);
  }
  if (input.argumentsDigest !== approvalDigest(call)) {
    return noResult('DENIED', 'ARGUMENTS_CHANGED', 'Not run: it is not the call that the user has allowed.');
  }
  return null;
}
