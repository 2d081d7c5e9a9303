// Where the CPU of a peer's server goes: node profile.mjs --peer ours --workload w2b [--after MS --for MS]
import { mkdir, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { peers } from './peers/peers.mjs';
import { describeProfile } from './report/profile.mjs';
import { pause } from './stage/clock.mjs';
import { startPostgres } from './stage/postgres.mjs';
import { setStage } from './stage/stage.mjs';
import { warmUp } from './workloads/warm-up.mjs';
import { workloads } from './workloads/workloads.mjs';

const string = { type: 'string' };
const { values } = parseArgs({
  options: { peer: string, workload: string, postgres: string, after: string, for: string },
});
const results = new URL('./results/', import.meta.url);
await mkdir(results, { recursive: true });
const postgres = await startPostgres(values.postgres);
try {
  const peer = peers.find(({ name }) => name === values.peer);
  const stage = await setStage(peer, { postgresUrl: postgres.url });
  try {
    await warmUp(stage);
    const running = workloads[values.workload].run(stage);
    await pause(Number(values.after ?? 0));
    await stage.server.ask('startProfile');
    await (values.for === undefined ? running : pause(Number(values.for)));
    const profile = await stage.server.ask('stopProfile');
    console.log(JSON.stringify(await running));
    await writeFile(new URL(`${values.peer}-${values.workload}.cpuprofile`, results), JSON.stringify(profile));
    console.log(describeProfile(profile));
  } finally {
    await stage.strike();
  }
} finally {
  await postgres.stop();
}
process.exit();
