import type { Tool } from '../../agent/tools/tool.js';
import type { ToolInfo } from '../service.js';

const origins = { built_in: 'BUILT_IN', server: 'SERVER', mcp: 'MCP', client: 'CLIENT' } as const;
const sideEffects = { none: 'NONE', read: 'READ', write: 'WRITE' } as const;

/** A tool without what runs it. */
export const toolInfo = ({ name, description, parameters, ...tool }: Tool): ToolInfo => ({
  name,
  description,
  parameters,
  origin: origins[tool.origin],
  sideEffect: sideEffects[tool.sideEffect],
  requiresApproval: tool.requiresApproval,
});
