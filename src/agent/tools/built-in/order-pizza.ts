import { z } from 'zod';
import { defineTool } from '../define-tool.js';
import type { ServerTool } from '../tool.js';

/** For the demo model alone: something that needs an approval and does nothing. */
export const orderPizza: ServerTool = defineTool({
  name: 'order_pizza',
  description: 'Pretends to order a pizza, to show what an approval is. Nothing is ordered.',
  parameters: z.object({ kind: z.string().trim().min(1).max(40) }),
  origin: 'built_in',
  sideEffect: 'write',
  requiresApproval: true,
  run: ({ kind }) => `One pizza ${kind} is on its way, in this demo only.`,
});
