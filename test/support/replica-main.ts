// The server as the product's own entry runs it, with what a test may hold in its hands besides: FAILPOINT arms places
// to die at, DEMO_PACE is the pace of the demo model, CLOCK_SKEW_MS sets its clock wrong, TOOL_LEDGER is the file of its
// tools, KEEP_ALIVE_MS is how often it looks after its connections. See replica.ts.

import { writeSync } from 'node:fs';
import { serve } from '../../src/serve.js';
import { createArmedFailpoints, readFailpoints } from './armed-failpoints.js';
import { ledgerTools } from './ledger-tools.js';
import { countEach, type ReplicaAnswer, type ReplicaRequest } from './replica-messages.js';

const failpoints = createArmedFailpoints(({ name, hit, action }) => {
  // At once and past every buffer, since nothing runs in this process any more.
  writeSync(1, `${JSON.stringify({ msg: `failpoint ${name} reached`, hit, action })}\n`);
  if (action === 'throw') throw new Error(`failpoint ${name}`);
  process.kill(process.pid, action === 'kill' ? 'SIGKILL' : 'SIGSTOP');
});
failpoints.arm(readFailpoints(process.env.FAILPOINT ?? ''));

const answer = (message: ReplicaAnswer) => process.send?.(message);

process.on('message', (request: ReplicaRequest) => {
  if (request.ask === 'arm') {
    failpoints.arm(readFailpoints(request.failpoints));
    answer({ id: request.id });
    return;
  }
  globalThis.gc?.();
  const active = countEach(process.getActiveResourcesInfo());
  const { heapUsed, arrayBuffers: buffers } = process.memoryUsage();
  answer({ id: request.id, resources: { active, heapUsed, buffers } });
});
// The test has gone, so nobody would end this process.
process.once('disconnect', () => process.exit(1));

const { DEMO_PACE, CLOCK_SKEW_MS = '0', TOOL_LEDGER, KEEP_ALIVE_MS } = process.env;
await serve(process.env, {
  failpoint: failpoints.failpoint,
  now: () => new Date(Date.now() + Number(CLOCK_SKEW_MS)),
  ...(DEMO_PACE !== undefined && { demoPace: Number(DEMO_PACE) }),
  ...(TOOL_LEDGER !== undefined && { tools: ledgerTools(TOOL_LEDGER) }),
  ...(KEEP_ALIVE_MS !== undefined && { timing: { keepAlive: Number(KEEP_ALIVE_MS) } }),
});
