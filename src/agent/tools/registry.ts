import type { Tool } from './tool.js';

/** Tools that come and go. Asked each time, so it answers from memory. */
export interface ToolSource {
  tools(): readonly Tool[];
}

/** The tools of this server. */
export interface ToolRegistry {
  /** Everything on offer now. */
  all(): readonly Tool[];
  /**
   * Those that a session may use now, by the names that it allows; null allows all but those that are to be named. Names
   * of no tool count for nothing.
   */
  allowed(names: readonly string[] | null): readonly Tool[];
}

/** What every provider takes as the name of a function. */
export const legalName = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * `tools` are always there; `sources` add to them. A name belongs to whoever comes first, and what a source offers under
 * a taken or illegal name is not there.
 *
 * @throws TypeError for a name of `tools` that no provider takes, or that two of them have.
 */
export function createToolRegistry(tools: readonly Tool[], sources: readonly ToolSource[] = []): ToolRegistry {
  const fixed = new Set<string>();
  for (const { name } of tools) {
    if (!legalName.test(name)) throw new TypeError(`no provider takes ${JSON.stringify(name)} as the name of a tool`);
    if (fixed.has(name)) throw new TypeError(`two tools are called ${name}`);
    fixed.add(name);
  }
  const current = (): readonly Tool[] => {
    if (sources.length === 0) return tools;
    const taken = new Set(fixed);
    const all = [...tools];
    for (const tool of sources.flatMap((source) => source.tools())) {
      if (taken.has(tool.name) || !legalName.test(tool.name)) continue;
      taken.add(tool.name);
      all.push(tool);
    }
    return all;
  };
  return {
    all: current,
    allowed: (names) => current().filter((tool) => (names === null ? !tool.isOptIn : names.includes(tool.name))),
  };
}
