import type { Run } from './run.js';
import { lengthOf, slice, viewOf } from './view.js';

const differing = (seen: readonly string[], stored: readonly string[]) => {
  const at = seen.findIndex((line, index) => line !== stored[index]);
  const place = at < 0 ? seen.length : at;
  return `saw ${seen[place] ?? 'nothing more'}, stored is ${stored[place] ?? 'nothing more'}`;
};

/**
 * I4: what a client has of a turn equals the same slice of what is stored of it. What an owner told and did not store is
 * gone with it, so a client that left before the next owner told the turn anew is not compared.
 */
export function sliceProblems({ watches, replays }: Run): string[] {
  const problems: string[] = [];
  for (const { name, events } of watches) {
    for (const turn of viewOf(events).turns) {
      const stored = replays.get(turn.turnId);
      const first = turn.events[0];
      if (!stored || !first || turn.sequence === null) continue;
      const begin = stored[0]?.sequence ?? 0;
      if (turn.sequence < begin) continue;
      const after = first.sequence - lengthOf(first);
      const seen = slice(turn.events, after, turn.sequence);
      const there = slice(stored, after, turn.sequence);
      if (JSON.stringify(seen) !== JSON.stringify(there)) {
        problems.push(`watch ${name}: turn ${turn.turnId}: ${differing(seen, there)}`);
      }
    }
  }
  return problems;
}
