import type { ToolRun } from './run-tool.js';
import { ToolFailure, type ToolFailureCategory } from './tool-failure.js';

/** Why a run came to nothing. */
export interface RunFailure {
  readonly code: string;
  readonly category: ToolFailureCategory | 'timeout';
  /** For the model. */
  readonly text: string;
  /** Whether it is a fault to be looked at, and not something the tool has said itself. */
  readonly isFault: boolean;
}

/** Codes of Node and of its fetch for a connection that did not come about. */
const neverThere = /^(?:E(?:CONNREFUSED|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH)|UND_ERR_CONNECT_TIMEOUT)$/;
/** The same for one that was lost: something may have come through. */
const lost = /^(?:E(?:CONNRESET|CONNABORTED|PIPE|TIMEDOUT)|UND_ERR_(?:SOCKET|HEADERS_TIMEOUT|BODY_TIMEOUT))$/;

/** The code of an error, or of what caused it: fetch hides the reason one level down. */
function codeOf(error: unknown, depth = 0): string {
  if (typeof error !== 'object' || error === null || depth > 3) return '';
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  return typeof code === 'string' && (neverThere.test(code) || lost.test(code)) ? code : codeOf(cause, depth + 1);
}

/** What is said of a run that may have done its work, where doing it twice would do harm. */
const unknown = 'Outcome unknown: it may or may not have done its work. Do not simply call it again.';

/**
 * Judges a run that gave nothing, by its kind and by codes, never by words.
 *
 * @param idempotent whether running it twice does no harm.
 */
export function failureOf(run: Extract<ToolRun, { kind: 'threw' | 'timedOut' }>, idempotent: boolean): RunFailure {
  if (run.kind === 'timedOut') {
    const text = 'The tool did not end in time and was cut off.';
    return idempotent
      ? { code: 'TIMEOUT', category: 'timeout', text, isFault: false }
      : { code: 'OUTCOME_UNKNOWN', category: 'timeout', text: `${text} ${unknown}`, isFault: false };
  }
  const { error } = run;
  if (error instanceof ToolFailure) {
    return { code: error.code, category: error.category, text: error.message, isFault: false };
  }
  const code = codeOf(error);
  if (code !== '') {
    const text = 'The tool could not reach what it needs.';
    return idempotent || neverThere.test(code)
      ? { code: 'UNREACHABLE', category: 'transport', text, isFault: true }
      : { code: 'OUTCOME_UNKNOWN', category: 'transport', text: `${text} ${unknown}`, isFault: true };
  }
  return { code: 'TOOL_ERROR', category: 'logic', text: 'The tool failed.', isFault: true };
}

/** Whether the same call may do better at once. */
export const mayPass = ({ category }: RunFailure) => category === 'timeout' || category === 'transport';
