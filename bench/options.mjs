import { parseArgs } from 'node:util';
import { peers } from './peers/peers.mjs';
import { workloads } from './workloads/workloads.mjs';

const usage = `npm run bench -- [--rounds 3] [--peers ${peers.map(({ name }) => name).join(',')}] [--workloads ${Object.keys(workloads).join(',')}] [--postgres URL]`;

function pick(text, known, what) {
  if (text === undefined) return known;
  const names = text.split(',');
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`No ${what} is called ${unknown}. ${usage}`);
  return known.filter((name) => names.includes(name));
}

/** What the command line asks for; `isWhole` when it leaves nothing out. */
export function readOptions(args) {
  const string = { type: 'string' };
  const { values } = parseArgs({
    args,
    options: { rounds: string, peers: string, workloads: string, postgres: string },
  });
  const rounds = Number(values.rounds ?? 3);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds takes a whole number. ${usage}`);
  const allNames = peers.map(({ name }) => name);
  const names = pick(values.peers, allNames, 'peer');
  const wanted = pick(values.workloads, Object.keys(workloads), 'workload');
  return {
    rounds,
    peers: peers.filter(({ name }) => names.includes(name)),
    workloads: wanted,
    postgresUrl: values.postgres,
    isWhole: rounds >= 3 && names.length === allNames.length && wanted.length === Object.keys(workloads).length,
  };
}
