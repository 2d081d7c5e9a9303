import type { Run } from './run.js';
import { viewOf } from './view.js';

/**
 * I3: the numbers of events are without holes and never come twice, and rise from turn to turn of those that began. A watcher
 * that went on by cursor was told nothing again.
 */
export function numberProblems({ sessions, watches, replays }: Run): string[] {
  const problems: string[] = [];
  for (const { name, events, byCursor } of watches) {
    problems.push(...viewOf(events).problems.map((problem) => `watch ${name}: ${problem}`));
    if (!byCursor) continue;
    for (const [at, event] of events.entries()) {
      const before = events[at - 1];
      if (before && event.sequence <= before.sequence) {
        problems.push(`watch ${name}: ${event.__typename} ${event.sequence} comes after ${before.sequence}`);
      }
    }
  }
  for (const session of sessions) {
    let last = 0;
    const seen = new Set<number>();
    for (const { id, status } of session.turns) {
      const events = replays.get(id);
      if (!events) {
        problems.push(`turn ${id}, ${status}, was not told again`);
        continue;
      }
      problems.push(...viewOf(events).problems.map((problem) => `replay: ${problem}`));
      for (const { sequence } of events) {
        if (seen.has(sequence)) problems.push(`turn ${id}: ${sequence} came before`);
        seen.add(sequence);
      }
      // Turns that were stopped in the queue are numbered as they are stopped, in whatever order.
      if (status === 'STOPPED' && events.length === 2) continue;
      const first = events[0];
      if (first && first.sequence <= last) problems.push(`turn ${id} begins at ${first.sequence}, not behind ${last}`);
      last = events.at(-1)?.sequence ?? last;
    }
  }
  return problems;
}
