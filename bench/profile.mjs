// Where the CPU of a peer's server goes: npm run profile -- --peer ours --workload w2b
import { mkdir, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { peers } from './peers/peers.mjs';
import { describeProfile } from './report/profile.mjs';
import { startPostgres } from './stage/postgres.mjs';
import { setStage } from './stage/stage.mjs';
import { warmUp } from './workloads/warm-up.mjs';
import { workloads } from './workloads/workloads.mjs';

const string = { type: 'string' };
const { values } = parseArgs({ options: { peer: string, workload: string, postgres: string } });
const results = new URL('./results/', import.meta.url);
await mkdir(results, { recursive: true });
const postgres = await startPostgres(values.postgres);
try {
  const peer = peers.find(({ name }) => name === values.peer);
  const stage = await setStage(peer, { postgresUrl: postgres.url });
  try {
    await warmUp(stage);
    await stage.server.ask('startProfile');
    console.log(JSON.stringify(await workloads[values.workload].run(stage)));
    const profile = await stage.server.ask('stopProfile');
    await writeFile(new URL(`${values.peer}-${values.workload}.cpuprofile`, results), JSON.stringify(profile));
    console.log(describeProfile(profile));
  } finally {
    await stage.strike();
  }
} finally {
  await postgres.stop();
}
process.exit();
