import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { ToolFailure } from '../tools/tool-failure.js';

/** Longest text of a server's error that is told on. */
const longestMessage = 2_000;

/** Codes of a connection that never came about. */
const neverConnected =
  /^(?:E(?:CONNREFUSED|NOTCONN|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH|NOENT|ACCES)|UND_ERR_CONNECT_TIMEOUT|ERR_TLS\w*|CERT_\w+|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_\w+)$/;

/** The code of an error, or of what caused it: fetch hides the reason one level down. */
function systemCode(error: unknown, depth = 0): string | null {
  if (!(error instanceof Error) || depth > 3) return null;
  const { code, errors } = error as Error & { code?: unknown; errors?: unknown };
  if (typeof code === 'string') return code;
  // Of a host with several addresses, one error each.
  const first = Array.isArray(errors) ? systemCode(errors[0], depth + 1) : null;
  return first ?? systemCode(error.cause, depth + 1);
}

/** Why something failed, in a word or two for the log: codes and classes, and nothing that a server has said. */
export function reasonOf(error: unknown): string {
  if (error instanceof StreamableHTTPError) return `HTTP ${error.code ?? 'error'}`;
  if (error instanceof McpError) {
    if (error.code === ErrorCode.RequestTimeout) return 'no answer in time';
    return error.code === ErrorCode.ConnectionClosed ? 'the connection was closed' : `JSON-RPC ${error.code}`;
  }
  return systemCode(error) ?? (error instanceof Error ? error.constructor.name : 'unknown');
}

/** Marks an error that the transport has made in place of an answer that broke off. */
export const brokenOff = Symbol('broken off');

/** Whether it is the server that has answered with this error. */
export const isAnswer = (error: unknown): error is McpError => error instanceof McpError && error.data !== brokenOff;

/** Whether a call that failed in this way has certainly not been run: it never left, or was turned away at the door. */
export const isNotSent = (error: unknown): boolean =>
  neverConnected.test(systemCode(error) ?? '') ||
  (error instanceof StreamableHTTPError && error.code !== undefined && error.code >= 400 && error.code < 500);

/** Of a call that did not reach its server. */
export const unreachable = (server: string): ToolFailure =>
  new ToolFailure(
    'UNREACHABLE',
    'transport',
    `Not run: the MCP server ${server} cannot be reached at the moment. It may be there again later.`,
  );

/** Of a call whose answer was lost on the way. */
export const lost = (server: string, isWrite: boolean, cause: unknown): ToolFailure =>
  isWrite
    ? new ToolFailure(
        'OUTCOME_UNKNOWN',
        'transport',
        `The connection to the MCP server ${server} was lost, outcome unknown: the tool may or may not have done its work. Do not simply call it again.`,
        { cause },
      )
    : new ToolFailure('CONNECTION_LOST', 'transport', `The connection to the MCP server ${server} was lost.`, {
        cause,
      });

/** Of an answer that is none. */
export const badResult = (): ToolFailure =>
  new ToolFailure('BAD_RESULT', 'logic', 'The MCP server answered with something that is no result of a tool.');

/** Of a call that took too long. */
export const timedOut = (isWrite: boolean): ToolFailure =>
  new ToolFailure(
    isWrite ? 'OUTCOME_UNKNOWN' : 'TIMEOUT',
    'timeout',
    isWrite
      ? 'The tool did not answer in time, outcome unknown: it may or may not have done its work. Do not simply call it again.'
      : 'The tool did not answer in time.',
  );

/** What a server's own error means, by the number ranges of JSON-RPC. */
export function refused({ code, message }: McpError): ToolFailure {
  const words = message.replace(/^MCP error -?\d+: /, '').slice(0, longestMessage);
  const text = `The MCP server refused the call (${code}): ${words}`;
  if (code === -32_700 || (code <= -32_600 && code >= -32_602)) {
    return new ToolFailure('INVALID_ARGUMENTS', 'validation', text);
  }
  if (code === -32_603 || (code <= -32_000 && code >= -32_099)) {
    return new ToolFailure('SERVER_ERROR', 'transport', text);
  }
  return new ToolFailure('TOOL_ERROR', 'logic', text);
}
