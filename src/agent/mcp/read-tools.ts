import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { toolsPage } from './listed-tool.js';

const pageMs = 30_000;
/** Pages of a list that are read: one without an end must not be read for ever. */
const mostPages = 100;

/** All tools that the server lists, each as it is told. @throws what the SDK throws. */
export async function readTools(client: Client): Promise<readonly unknown[]> {
  if (!client.getServerCapabilities()?.tools) return [];
  const tools: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    // Not by the client's own function, which fails for all tools when one of them is not as it should be.
    const read = await client.request({ method: 'tools/list', params }, toolsPage, { timeout: pageMs });
    tools.push(...read.tools);
    cursor = read.nextCursor;
    if (cursor === undefined) break;
  }
  return tools;
}
