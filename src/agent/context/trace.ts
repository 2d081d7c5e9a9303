import type { BuiltRequest } from './build-request.js';

/** Stretches of messages that a trace tells; of a very long history it tells the oldest ones. */
const mostDecisions = 400;

/** The trace of how a prompt was made up; none when all was told as it was written. */
export function contextTraces(built: Pick<BuiltRequest, 'report' | 'decisions'> | null) {
  if (built === null || built.report.strategy === 'PASSTHROUGH') return [];
  const { report, decisions } = built;
  const further = Math.max(0, decisions.length - mostDecisions);
  const data = { ...report, decisions: decisions.slice(0, mostDecisions), furtherDecisions: further };
  return [{ type: 'CONTEXT_DECISION', data }];
}
