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

/** Codes of Node and of its fetch for a connection that did not come about, or was lost. */
const lostOnTheWay =
  /^(?:ECONN(?:REFUSED|RESET|ABORTED)|E(?:NOTFOUND|AI_AGAIN|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH)|UND_ERR_(?:SOCKET|CONNECT_TIMEOUT|HEADERS_TIMEOUT|BODY_TIMEOUT))$/;

/** The code of an error, or of what caused it: fetch hides the reason one level down. */
function codeOf(error: unknown, depth = 0): string {
  if (typeof error !== 'object' || error === null || depth > 3) return '';
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  return typeof code === 'string' && lostOnTheWay.test(code) ? code : codeOf(cause, depth + 1);
}

/** Judges a run that gave nothing, by its kind and by codes, never by words. */
export function failureOf(run: Extract<ToolRun, { kind: 'threw' | 'timedOut' }>): RunFailure {
  if (run.kind === 'timedOut') {
    const text = 'The tool did not end in time and was cut off.';
    return { code: 'TIMEOUT', category: 'timeout', text, isFault: false };
  }
  const { error } = run;
  if (error instanceof ToolFailure) {
    return { code: error.code, category: error.category, text: error.message, isFault: false };
  }
  if (codeOf(error) !== '') {
    const text = 'The tool could not reach what it needs.';
    return { code: 'UNREACHABLE', category: 'transport', text, isFault: true };
  }
  return { code: 'TOOL_ERROR', category: 'logic', text: 'The tool failed.', isFault: true };
}

/** Whether the same call may do better at once. */
export const mayPass = ({ category }: RunFailure) => category === 'timeout' || category === 'transport';
