import type { StoredToolCall } from '../db/queries/owned-turn.js';
import type { InputToAsk } from '../db/queries/park-turn.js';
import type { ToolResult } from '../db/queries/store-tool-result.js';
import { answeredResult, approvalDigest, denialOf } from './input-results.js';
import { mostCalls } from './tool-calls.js';
import { noResult, outcomeUnknown } from './tool-results.js';
import { asObject } from './tools/arguments.js';
import type { Question, ServerTool, Tool } from './tools/tool.js';

/** How often one and the same call may fail in a turn before it is not tried any more. */
export const mostFailures = 3;

/** What is to be done about an open call. */
export type CallPlan =
  | { readonly kind: 'close'; readonly result: ToolResult }
  | { readonly kind: 'run'; readonly tool: ServerTool; readonly value: unknown }
  | { readonly kind: 'ask'; readonly input: InputToAsk }
  /** It is asked already. */
  | { readonly kind: 'wait' };

/** What a call is judged by, besides what is stored of it. */
export interface CallCircumstances {
  /** Those that the session may use. */
  readonly tools: readonly Tool[];
  /** It has failed in this turn with the same arguments, as often as it may. */
  readonly isRepeated: boolean;
  /** No model call follows that could read an answer. */
  readonly isLastStep: boolean;
  /** Longest result, in UTF-16 units. */
  readonly limit: number;
}

const close = (result: ToolResult): CallPlan => ({ kind: 'close', result });
const refuse = (errorCode: string, result: string) => close(noResult('FAILED', errorCode, result));

const unknownTool = (name: string, tools: readonly Tool[]) =>
  refuse(
    'UNKNOWN_TOOL',
    tools.length === 0
      ? `There is no tool ${name}, nor any other tool here.`
      : `There is no tool ${name}. The tools are: ${tools.map((tool) => tool.name).join(', ')}.`,
  );

const notAsked = refuse(
  'NO_STEP_LEFT',
  'Not asked: this turn may make no further model call, so nobody would read the answer.',
);

const repeatedCall = refuse(
  'REPEATED_CALL',
  `Not run: exactly this call has failed ${mostFailures} times in this turn. Change its arguments, use something else, or say what is missing.`,
);

/** A call that is not asked for any more, or not yet: from its name to what is to be done. */
function planFresh(call: StoredToolCall, { tools, isRepeated, isLastStep }: CallCircumstances): CallPlan {
  if (call.position >= mostCalls) {
    return refuse('TOO_MANY_CALLS', `Not run, nor any call behind it: one reply may call at most ${mostCalls} tools.`);
  }
  const tool = tools.find(({ name }) => name === call.name);
  if (!tool) return unknownTool(call.name, tools);
  if (isRepeated && !call.input) return repeatedCall;
  const given = asObject(call.arguments);
  if (!given) {
    return refuse('INVALID_ARGUMENTS', 'Not run: the arguments were cut off or are not the JSON of an object.');
  }
  const read = tool.read(given);
  if ('problem' in read) return refuse('INVALID_ARGUMENTS', `Not run, the arguments are not valid: ${read.problem}`);
  switch (tool.kind) {
    case 'question':
      if (isLastStep) return notAsked;
      return { kind: 'ask', input: { kind: 'QUESTION', ...(read.value as Question) } };
    case 'client':
      return { kind: 'ask', input: { kind: 'CLIENT_TOOL' } };
    case 'server':
      return tool.requiresApproval && !call.input
        ? { kind: 'ask', input: { kind: 'APPROVAL', argumentsDigest: approvalDigest(call) } }
        : { kind: 'run', tool, value: read.value };
  }
}

/**
 * Decides about an open call, in this order: is there an answer, is there such a tool in this session, are the arguments
 * valid, is it allowed. An approved call is judged anew, since its tool may have changed meanwhile.
 */
export function planCall(call: StoredToolCall, circumstances: CallCircumstances): CallPlan {
  const { input } = call;
  if (input && input.kind !== 'APPROVAL') {
    const result = answeredResult(input, circumstances.limit);
    return result ? close(result) : { kind: 'wait' };
  }
  if (input?.status === 'PENDING') return { kind: 'wait' };
  // Its tool was at work under an owner that was lost.
  if (call.status === 'RUNNING' && !call.idempotent) return close(outcomeUnknown);
  const denial = input && denialOf(call, input);
  return denial ? close(denial) : planFresh(call, circumstances);
}
