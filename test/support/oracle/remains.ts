import type { Run } from './run.js';
import { viewOf } from './view.js';

/** What is left in the end of a turn, found by the text of its message. */
export interface Remains {
  readonly status: string | undefined;
  readonly attempts: number | undefined;
  readonly epoch: number | undefined;
  /** Rows of the ledger, as `SUCCEEDED` or `FAILED, estimated`. */
  readonly calls: readonly string[];
  readonly requests: number;
  /** Calls of tools, as `c1 SUCCEEDED`, with how often the tool was run. */
  readonly tools: readonly string[];
}

export function remainsOf(run: Run, text: string): Remains {
  const session = run.sessions.find(({ messages }) => messages.some(({ content }) => content === text));
  const turnId = session?.messages.find(({ content }) => content === text)?.turnId;
  const turn = session?.turns.find(({ id }) => id === turnId);
  const ofTurn = <Row extends { readonly turnId: string | null }>(rows: readonly Row[] = []) =>
    rows.filter((row) => row.turnId === turnId);
  const runsOf = (id: string) => run.effects.find(({ callId }) => callId === id)?.runs ?? 0;
  return {
    status: turn?.status,
    attempts: turn?.attempts,
    epoch: turn?.epoch,
    calls: ofTurn(session?.modelCalls).map(({ status, estimated }) => `${status}${estimated ? ', estimated' : ''}`),
    requests: run.requests.filter((request) => request.text === text).length,
    tools: ofTurn(session?.toolCalls).map(({ id, callId, status }) => `${callId} ${status} ${runsOf(id)}x`),
  };
}

/** How often somebody who watched had to begin the turn anew. */
export const restartsOf = (run: Run, watchName: string): number | undefined =>
  viewOf(run.watches.find(({ name }) => name === watchName)?.events ?? []).turns[0]?.restarts;
