import { failuresInARow } from '../../db/queries/failures-in-a-row.js';
import type { StoredToolCall } from '../../db/queries/owned-turn.js';
import type { ToolResult } from '../../db/queries/store-tool-result.js';
import type { AgentDependencies } from '../dependencies.js';
import { patiently } from '../patience.js';
import type { RunningTurn } from '../running-turn.js';
import type { RunFailure } from '../tools/run-failure.js';
import { sessionTools } from '../tools/session-tools.js';
import { categoryOf, type FailureCategory, remedyFor, wordsOf } from './advice.js';

/** The result of a call, with what was wrong when its tool was run and failed. */
export interface CallOutcome extends ToolResult {
  readonly failure?: RunFailure['category'];
}

export interface Diagnosis {
  readonly category: FailureCategory;
  /** Of this tool in a row, this one included. */
  readonly failures: number;
  /** For people and, inside of the result, for the model. */
  readonly suggestion: string;
}

/** What a failed call says about how to go on; null for one that did not fail. */
export async function diagnose(
  deps: AgentDependencies,
  { facts }: RunningTurn,
  { name }: StoredToolCall,
  { status, errorCode, failure }: CallOutcome,
): Promise<Diagnosis | null> {
  if (status !== 'FAILED' && status !== 'DENIED') return null;
  const { sessionId, turnId } = facts;
  const before = await patiently(deps, turnId, 'a failure could not be looked into yet', () =>
    failuresInARow(deps.db, sessionId, name),
  );
  const category = categoryOf(errorCode, failure);
  const canAsk = sessionTools(deps.tools, facts).some(({ kind }) => kind === 'question');
  return { category, failures: before + 1, suggestion: wordsOf(remedyFor(category, before + 1, canAsk)) };
}

/** The result as the model is told it: the advice travels inside, since it is nobody's words. */
export const withAdvice = (result: ToolResult, { suggestion }: Diagnosis): ToolResult => ({
  ...result,
  result: `${result.result}\n\n[advice: ${suggestion}]`,
});
