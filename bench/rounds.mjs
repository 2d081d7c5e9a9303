import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { groupsOf } from './workloads/workloads.mjs';

const client = fileURLToPath(new URL('./round.mjs', import.meta.url));

/** Whether a peer can be put to a workload. */
function isFit({ only, hasIdleStreams = true, name }, workload) {
  if (only !== undefined) return only.includes(workload);
  if (workload === 'w5idle') return hasIdleStreams;
  // Its streams have a connection each in any case.
  if (workload === 'w5socket') return hasIdleStreams && name !== 'hand';
  return true;
}

async function runClient(task, onFigures) {
  const child = fork(client, [JSON.stringify(task)]);
  child.on('message', onFigures);
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${task.peer} failed at ${task.names.join(', ')}`);
}

/**
 * Runs the rounds, one thing at a time, the peers taking turns within each group of workloads. A peer that fails is
 * named and left out of that group.
 *
 * @returns a record {peer, round, workload, figures} for each workload of each peer and round
 */
export async function runRounds({ rounds, peers, workloads, postgresUrl, say }) {
  const records = [];
  for (let round = 1; round <= rounds; round += 1) {
    for (const group of groupsOf(workloads)) {
      for (const peer of peers) {
        const names = group.filter((name) => isFit(peer, name));
        if (names.length === 0) continue;
        const keep = (figures) => {
          for (const [workload, values] of Object.entries(figures)) {
            records.push({ peer: peer.name, round, workload, figures: values });
            say({ peer: peer.name, round, workload, figures: values });
          }
        };
        await runClient({ peer: peer.name, names, postgresUrl }, keep).catch((error) =>
          say({ failure: error.message }),
        );
      }
    }
  }
  return records;
}
