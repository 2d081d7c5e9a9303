import type { ListedTool } from './listed-tool.js';

export interface Admission {
  readonly sideEffect: 'read' | 'write';
  readonly requiresApproval: boolean;
  readonly idempotent: boolean;
}

/**
 * What a tool of an MCP server may do unasked. Only one that says that it reads, and not that it destroys, may be run
 * without the user's approval; silence counts as writing.
 */
export function admit(annotations: ListedTool['annotations']): Admission {
  const { readOnlyHint, destructiveHint, idempotentHint } = annotations ?? {};
  if (readOnlyHint === true && destructiveHint !== true) {
    return { sideEffect: 'read', requiresApproval: false, idempotent: true };
  }
  return { sideEffect: 'write', requiresApproval: true, idempotent: idempotentHint === true };
}
