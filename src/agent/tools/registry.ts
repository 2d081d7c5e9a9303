import type { Tool } from './tool.js';

/** The tools of this server. */
export interface ToolRegistry {
  /** Those that a session may use, by the names that it allows; null allows all. Names of no tool count for nothing. */
  allowed(names: readonly string[] | null): readonly Tool[];
}

/** What every provider takes as the name of a function. */
const legalName = /^[A-Za-z0-9_-]{1,64}$/;

/** @throws TypeError for a name that no provider takes, or that two tools have. */
export function createToolRegistry(tools: readonly Tool[]): ToolRegistry {
  const names = new Set<string>();
  for (const { name } of tools) {
    if (!legalName.test(name)) throw new TypeError(`no provider takes ${JSON.stringify(name)} as the name of a tool`);
    if (names.has(name)) throw new TypeError(`two tools are called ${name}`);
    names.add(name);
  }
  return { allowed: (allowed) => (allowed === null ? tools : tools.filter(({ name }) => allowed.includes(name))) };
}
