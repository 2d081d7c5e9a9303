import { z } from 'zod';
import type { TurnFacts } from '../../db/queries/turn-facts.js';
import { beginning } from '../context/texts.js';
import { defineTool } from './define-tool.js';
import type { ToolRegistry } from './registry.js';
import { searchTools } from './search-tools.js';
import { sessionTools } from './session-tools.js';
import type { ServerTool, Tool } from './tool.js';

export const findToolsName = 'find_tools';
/** So many tools are always few. */
const fewTools = 8;
const mostFound = 6;
/** Six of them fit into the result that a window of 4,096 tokens has room for. */
const longestShown = 200;

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
      return {
        tools: found.map(({ name, description }) => ({ name, description: beginning(description, longestShown) })),
      };
    },
  });

/** The names in a result of find_tools, which may have been cut. In the texts of descriptions the quotes are escaped. */
export const foundNames = (result: string): string[] =>
  [...result.matchAll(/"name":"([\w-]+)"/g)].map(([, name = '']) => name);

/** The tools that a model may call in a session: those of the session, and where they are many, the one that finds them. */
export function callableTools(
  registry: ToolRegistry,
  facts: Pick<TurnFacts, 'toolNames' | 'clientTools'>,
): readonly Tool[] {
  const tools = sessionTools(registry, facts);
  if (tools.length <= fewTools || tools.some(({ name }) => name === findToolsName)) return tools;
  return [...tools, findTools(tools)];
}
