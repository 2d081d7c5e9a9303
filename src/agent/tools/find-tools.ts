import { z } from 'zod';
import type { TurnFacts } from '../../db/queries/turn-facts.js';
import { defineTool } from './define-tool.js';
import type { ToolRegistry } from './registry.js';
import { searchTools } from './search-tools.js';
import { sessionTools } from './session-tools.js';
import type { ServerTool, Tool } from './tool.js';

export const findToolsName = 'find_tools';
/** So many tools are always few. */
const fewTools = 8;
const mostFound = 6;

/** Finds those among the tools of a session that the model is not shown. What it finds is shown from then on. */
const findTools = (tools: readonly Tool[]): ServerTool =>
  defineTool({
    name: findToolsName,
    description:
      'There are more tools than those you see. Say in a few words what you want to do, to find the tools for it. You can call what it finds.',
    parameters: z.object({ query: z.string().trim().min(1).max(500) }),
    origin: 'built_in',
    sideEffect: 'none',
    run({ query }) {
      const found = searchTools(tools, query).slice(0, mostFound);
      if (found.length === 0) return { tools: [], note: 'Nothing fits these words. Try others.' };
      return { tools: found.map(({ name, description }) => ({ name, description: description.slice(0, 300) })) };
    },
  });

/** The names in a result of find_tools. */
export function foundNames(result: string): string[] {
  try {
    const { tools } = JSON.parse(result) as { tools?: readonly { readonly name?: unknown }[] };
    return (tools ?? []).flatMap(({ name }) => (typeof name === 'string' ? [name] : []));
  } catch {
    return [];
  }
}

/** The tools that a model may call in a session: those of the session, and where they are many, the one that finds them. */
export function callableTools(
  registry: ToolRegistry,
  facts: Pick<TurnFacts, 'toolNames' | 'clientTools'>,
): readonly Tool[] {
  const tools = sessionTools(registry, facts);
  if (tools.length <= fewTools || tools.some(({ name }) => name === findToolsName)) return tools;
  return [...tools, findTools(tools)];
}
