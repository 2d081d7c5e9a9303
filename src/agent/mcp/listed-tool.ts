import { z } from 'zod';

const hint = z.boolean().optional().catch(undefined);

/** What an MCP server tells of a tool, as far as it is used here. What is no hint counts as none given. */
export const listedTool = z.object({
  name: z.string().min(1).max(500),
  description: z.string().optional().catch(undefined),
  inputSchema: z.record(z.string(), z.unknown()),
  annotations: z
    .object({ readOnlyHint: hint, destructiveHint: hint, idempotentHint: hint })
    .optional()
    .catch(undefined),
  execution: z
    .object({ taskSupport: z.string().optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

export type ListedTool = z.infer<typeof listedTool>;

/** A page of the list. One tool that is not as it should be spoils no other. */
export const toolsPage = z.object({
  tools: z.array(z.unknown()),
  nextCursor: z.string().optional().catch(undefined),
});
