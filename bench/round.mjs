// The client, a process of its own: takes one peer through some workloads and sends the figures to its parent.
import { peers } from './peers/peers.mjs';
import { setStage } from './stage/stage.mjs';
import { warmUp } from './workloads/warm-up.mjs';
import { workloads } from './workloads/workloads.mjs';

process.once('disconnect', () => process.exit(1));

const { peer: peerName, names, postgresUrl } = JSON.parse(process.argv[2]);
const stage = await setStage(
  peers.find(({ name }) => name === peerName),
  { postgresUrl },
);
try {
  if (names.some((name) => !workloads[name].alone)) await warmUp(stage);
  for (const name of names) process.send(await workloads[name].run(stage));
} finally {
  await stage.strike();
}
process.exit();
