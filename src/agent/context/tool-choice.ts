import type { Queryable } from '../../db/queries/queryable.js';
import { toolUse } from '../../db/queries/tool-use.js';
import type { ModelInfo } from '../../model/catalog.js';
import type { PromptTool } from '../../model/port.js';
import { findToolsName, foundNames } from '../tools/find-tools.js';
import { searchTools } from '../tools/search-tools.js';
import type { Tool } from '../tools/tool.js';
import type { TokenCounts } from './token-counts.js';

/** The part of the window that tools may take before they are many, and its bounds in tokens. */
const share = 0.1;
const least = 1_000;
const most = 8_000;

export const toolBudget = (contextWindow: number): number =>
  Math.min(most, Math.max(Math.min(least, contextWindow / 4), contextWindow * share));

/** A tool as the model is shown it. */
const toPromptTool = ({ name, description, parameters }: Tool): PromptTool => ({ name, description, parameters });

export const toolsTokens = (tools: readonly PromptTool[], counts: TokenCounts): number =>
  tools.length === 0 ? 0 : counts.text(JSON.stringify(tools));

/** What a session has to do with its tools so far. */
export interface ToolUse {
  /** Names that were called, the last one first. */
  readonly called: readonly string[];
  /** What find_tools has found, the last result first. */
  readonly found: readonly string[];
  /** The last words of the user. */
  readonly said: string;
}

/**
 * The tools that fit into a budget: always the one that finds others and the one that asks the user, then what this session
 * has called or found, then what has most to do with what was said last. In the order in which they are given, so that
 * the same choice is the same text.
 */
export function chooseTools(
  tools: readonly Tool[],
  budget: number,
  use: ToolUse,
  counts: TokenCounts,
): readonly Tool[] {
  const chosen = new Set<Tool>();
  let left = budget;
  const take = (tool: Tool | undefined, isNeeded = false) => {
    if (!tool || chosen.has(tool)) return;
    const size = counts.text(JSON.stringify(toPromptTool(tool)));
    if (!isNeeded && size > left) return;
    chosen.add(tool);
    left -= size;
  };
  const named = (name: string) => tools.find((tool) => tool.name === name);
  take(named(findToolsName), true);
  for (const tool of tools) if (tool.kind === 'question') take(tool, true);
  for (const name of [...use.called, ...use.found.flatMap(foundNames)]) take(named(name));
  for (const tool of searchTools(tools, use.said)) take(tool);
  return tools.filter((tool) => chosen.has(tool));
}

export interface OfferedTools {
  readonly offered: readonly PromptTool[];
  readonly tokens: number;
  /** How many there are, the one that finds others not counted. */
  readonly available: number;
}

const isFinder = ({ name, origin }: Tool) => name === findToolsName && origin === 'built_in';

/** What a model is shown of the tools that it may call: all where they are few, else the best. */
export async function offerTools(
  db: Queryable,
  { sessionId }: { readonly sessionId: string },
  tools: readonly Tool[],
  { takesTools, contextWindow }: Pick<ModelInfo, 'takesTools' | 'contextWindow'>,
  counts: TokenCounts,
): Promise<OfferedTools> {
  const all = tools.filter((tool) => !isFinder(tool));
  const available = all.length;
  if (!takesTools) return { offered: [], tokens: 0, available };
  const shown = all.map(toPromptTool);
  const tokens = toolsTokens(shown, counts);
  const budget = toolBudget(contextWindow);
  if (tokens <= budget || available === tools.length) return { offered: shown, tokens, available };
  const use = await toolUse(db, sessionId, findToolsName);
  const offered = chooseTools(tools, budget, use, counts).map(toPromptTool);
  return { offered, tokens: toolsTokens(offered, counts), available };
}
