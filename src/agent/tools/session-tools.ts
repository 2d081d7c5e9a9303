import type { TurnFacts } from '../../db/queries/turn-facts.js';
import { clientTool } from './client-tool.js';
import type { ToolRegistry } from './registry.js';
import type { Tool } from './tool.js';

/**
 * The tools of a session: those of this server that it may use, then those that its client runs. A name that its client
 * has declared is the client's, whatever the server has learned since.
 */
export function sessionTools(
  registry: ToolRegistry,
  { toolNames, clientTools }: Pick<TurnFacts, 'toolNames' | 'clientTools'>,
): readonly Tool[] {
  const own = clientTools.map(clientTool);
  const isOwn = ({ name }: Tool) => own.some((tool) => tool.name === name);
  return [...registry.allowed(toolNames).filter((tool) => !isOwn(tool)), ...own];
}
