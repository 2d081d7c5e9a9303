import { createHash } from 'node:crypto';

const longest = 64;

/**
 * The name under which the model knows a tool of an MCP server: `server_tool` where that is a name that providers take
 * and that means no other tool; else made legal, with a mark that is made of both names. It depends on the configuration
 * alone, so it is the same after every start, whoever else is connected.
 *
 * @param servers the names of all MCP servers
 * @param isReserved names that tools of this server have, now or in some sessions
 */
export function toolName(
  server: string,
  tool: string,
  servers: readonly string[],
  isReserved: (name: string) => boolean,
): string {
  const exact = `${server}_${tool}`;
  const legal = exact.replace(/[^A-Za-z0-9_-]/g, '_');
  // `a_b_c` may be the tool `b_c` of `a` or the tool `c` of `a_b`: the longer server has it.
  const isOthers = servers.some((other) => other.length > server.length && exact.startsWith(`${other}_`));
  if (legal === exact && legal.length <= longest && !isOthers && !isReserved(legal)) return legal;
  const mark = createHash('sha256')
    .update(JSON.stringify([server, tool]))
    .digest('hex')
    .slice(0, 6);
  return `${legal.slice(0, longest - mark.length - 1)}_${mark}`;
}
