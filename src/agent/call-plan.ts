import type { StoredToolCall } from '../db/queries/owned-turn.js';
import type { ToolResult } from '../db/queries/store-tool-result.js';
import { mostCalls } from './tool-calls.js';
import { interruptedBy, noResult, outcomeUnknown } from './tool-results.js';
import { asObject } from './tools/arguments.js';
import type { Question, ServerTool, Tool } from './tools/tool.js';

/** How often one and the same call may fail in a turn before it is not tried any more. */
export const mostFailures = 3;

/** What is to be done about an open call. */
export type CallPlan =
  | { readonly kind: 'close'; readonly result: ToolResult }
  | { readonly kind: 'run'; readonly tool: ServerTool; readonly value: unknown }
  | { readonly kind: 'ask'; readonly question: Question }
  /** It is asked already. */
  | { readonly kind: 'wait' };

const unanswered = noResult(
  'FAILED',
  'INPUT_EXPIRED',
  'The user did not answer in time. Go on without the answer: say what you assume, or what is missing.',
);

const close = (result: ToolResult): CallPlan => ({ kind: 'close', result });
const refuse = (errorCode: string, result: string) => close(noResult('FAILED', errorCode, result));

function planAnswered({ status, answer }: NonNullable<StoredToolCall['input']>): CallPlan {
  switch (status) {
    case 'PENDING':
      return { kind: 'wait' };
    case 'RESOLVED':
      return close({ status: 'SUCCEEDED', errorCode: null, result: String(answer), durationMs: null });
    case 'EXPIRED':
      return close(unanswered);
    case 'CANCELLED':
      return close(interruptedBy(null));
  }
}

const unknownTool = (name: string, tools: readonly Tool[]) =>
  refuse(
    'UNKNOWN_TOOL',
    tools.length === 0
      ? `There is no tool ${name}, nor any other tool here.`
      : `There is no tool ${name}. The tools are: ${tools.map((tool) => tool.name).join(', ')}.`,
  );

/**
 * Decides about an open call by what is stored of it, with the tools that the session may use.
 *
 * @param isRepeated it has failed in this turn with the same arguments, as often as it may.
 */
export function planCall(call: StoredToolCall, tools: readonly Tool[], isRepeated: boolean): CallPlan {
  if (call.input) return planAnswered(call.input);
  // Its tool was at work under an owner that was lost.
  if (call.status === 'RUNNING' && !call.idempotent) return close(outcomeUnknown);
  if (call.position >= mostCalls) {
    return refuse('TOO_MANY_CALLS', `Not run: one reply may call at most ${mostCalls} tools.`);
  }
  const tool = tools.find(({ name }) => name === call.name);
  if (!tool) return unknownTool(call.name, tools);
  if (isRepeated) {
    return refuse(
      'REPEATED_CALL',
      `Not run: exactly this call has failed ${mostFailures} times in this turn. Change its arguments, use something else, or say what is missing.`,
    );
  }
  const given = asObject(call.arguments);
  if (!given) {
    return refuse('INVALID_ARGUMENTS', 'Not run: the arguments were cut off or are not the JSON of an object.');
  }
  const read = tool.read(given);
  if ('problem' in read) return refuse('INVALID_ARGUMENTS', `Not run, the arguments are not valid: ${read.problem}`);
  switch (tool.kind) {
    case 'question':
      return { kind: 'ask', question: read.value as Question };
    case 'server':
      if (!tool.requiresApproval) return { kind: 'run', tool, value: read.value };
  }
  return refuse('APPROVAL_REQUIRED', 'Not run: it needs the approval of the user, who cannot be asked for it here.');
}
