import type { ContextReport } from '../../events/context-report.js';

/** The trace of how a prompt was made up; none when all was told as it was written. */
export const contextTraces = (report: ContextReport | null) =>
  report === null || report.strategy === 'PASSTHROUGH' ? [] : [{ type: 'CONTEXT_DECISION', data: { report } }];
