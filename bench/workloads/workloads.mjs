import { idleSockets, idleSubscriptions } from './idle-subscriptions.mjs';
import { loneTokens } from './lone-tokens.mjs';
import { longSessions } from './long-session.mjs';
import { saturation } from './saturation.mjs';
import { silentTurns } from './silent-turns.mjs';
import { turns } from './turns.mjs';

/** By the name of the command line. What is about memory needs a server that has done nothing before. */
export const workloads = {
  w1: { run: saturation },
  w2b: { run: loneTokens },
  w3: { run: turns },
  w4: { run: longSessions },
  w5idle: { run: idleSubscriptions, alone: true },
  w5socket: { run: idleSockets, alone: true },
  w5held: { run: silentTurns, alone: true },
};

/** Which workloads share one start of a server, of those that are wanted. */
export function groupsOf(names) {
  const together = names.filter((name) => !workloads[name].alone);
  const alone = names.filter((name) => workloads[name].alone).map((name) => [name]);
  return together.length > 0 ? [together, ...alone] : alone;
}
