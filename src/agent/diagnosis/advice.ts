import type { RunFailure } from '../tools/run-failure.js';

/** What kind of thing went wrong with a call. */
export type FailureCategory =
  | 'arguments'
  | 'unknown_tool'
  | 'timeout'
  | 'unreachable'
  | 'outcome_unknown'
  | 'denied'
  | 'unanswered'
  | 'too_many_calls'
  | 'tool_error';

/** What is to be tried next. */
export type Remedy = 'change_arguments' | 'fewer_calls' | 'other_tool' | 'ask_user' | 'give_up';

/** By the code of the result, never by its words. */
const categories: Readonly<Record<string, FailureCategory>> = {
  INVALID_ARGUMENTS: 'arguments',
  UNKNOWN_TOOL: 'unknown_tool',
  DENIED: 'denied',
  ARGUMENTS_CHANGED: 'denied',
  INPUT_EXPIRED: 'unanswered',
  TOO_MANY_CALLS: 'too_many_calls',
};

/** How a tool's own failures are told apart; their codes are its own. */
const ofRuns: Readonly<Record<RunFailure['category'], FailureCategory>> = {
  validation: 'arguments',
  timeout: 'timeout',
  transport: 'unreachable',
  logic: 'tool_error',
};

/** @param failure of the run, when the tool was run at all. */
export function categoryOf(errorCode: string | null, failure?: RunFailure['category']): FailureCategory {
  // However it came about, trying again might do something twice.
  if (errorCode === 'OUTCOME_UNKNOWN') return 'outcome_unknown';
  return failure ? ofRuns[failure] : (categories[errorCode ?? ''] ?? 'tool_error');
}

/** For each category what is advised after the first failure, the second, and so on; the last goes for all further ones. */
const escalation: Readonly<Record<FailureCategory, readonly Remedy[]>> = {
  arguments: ['change_arguments', 'change_arguments', 'other_tool', 'ask_user', 'give_up'],
  unknown_tool: ['other_tool', 'other_tool', 'ask_user', 'give_up'],
  timeout: ['change_arguments', 'other_tool', 'ask_user', 'give_up'],
  unreachable: ['other_tool', 'other_tool', 'ask_user', 'give_up'],
  outcome_unknown: ['ask_user', 'give_up'],
  denied: ['other_tool', 'ask_user', 'give_up'],
  unanswered: ['give_up'],
  too_many_calls: ['fewer_calls', 'give_up'],
  tool_error: ['change_arguments', 'other_tool', 'ask_user', 'give_up'],
};

const words: Readonly<Record<Remedy, string>> = {
  change_arguments: 'Call it again with other arguments that fit its description, or with less to do.',
  fewer_calls: 'Make fewer calls at a time.',
  other_tool: 'Do not repeat this call. Use another of the tools on offer, or do without.',
  ask_user: 'Stop trying. Ask the user how to go on, and say what is missing.',
  give_up: 'Do not call it again. Tell the user plainly what could not be done, and answer with what you have.',
};

/**
 * What to try after a failure.
 *
 * @param failures of this tool in a row, this one included.
 * @param canAsk whether the model has a tool to ask the user with.
 */
export function remedyFor(category: FailureCategory, failures: number, canAsk: boolean): Remedy {
  const remedies = escalation[category].filter((remedy) => canAsk || remedy !== 'ask_user');
  return remedies[Math.min(failures, remedies.length) - 1] ?? 'give_up';
}

export const wordsOf = (remedy: Remedy): string => words[remedy];
