import { appendFileSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { defineTool } from '../../src/agent/tools/define-tool.js';
import type { Tool, ToolContext } from '../../src/agent/tools/tool.js';
import type { ToolEffect } from './oracle/run.js';

/**
 * Tools that write down in a file every time they are run, so that it is known whatever becomes of their process:
 * `look_up` may run twice, `pay` may not. Both take `ms` for their work.
 */
export function ledgerTools(file: string): readonly Tool[] {
  const parameters = z.object({ what: z.string(), ms: z.number().optional() });
  const work = (idempotent: boolean) => async (args: z.infer<typeof parameters>, context: ToolContext) => {
    const { what, ms = 0 } = args;
    appendFileSync(file, `${JSON.stringify({ callId: context.toolCallId, idempotent })}\n`);
    await sleep(ms, undefined, { signal: context.signal });
    return `done: ${what}`;
  };
  return [
    defineTool({
      name: 'look_up',
      description: 'Looks something up.',
      parameters,
      sideEffect: 'read',
      run: work(true),
    }),
    defineTool({ name: 'pay', description: 'Pays something.', parameters, sideEffect: 'write', run: work(false) }),
  ];
}

/** What the tools of all processes have written into a file. */
export function readToolLedger(file: string): ToolEffect[] {
  const effects = new Map<string, ToolEffect>();
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line === '') continue;
    const { callId, idempotent } = JSON.parse(line) as { callId: string; idempotent: boolean };
    effects.set(callId, { callId, idempotent, runs: (effects.get(callId)?.runs ?? 0) + 1 });
  }
  return [...effects.values()];
}
