import type { BuiltRequest } from './build-request.js';

/** The trace of how a prompt was made up; none when all was told as it was written. */
export const contextTraces = (built: Pick<BuiltRequest, 'report' | 'decisions'> | null) =>
  built === null || built.report.strategy === 'PASSTHROUGH'
    ? []
    : [{ type: 'CONTEXT_DECISION', data: { ...built.report, decisions: built.decisions } }];
