import type { Run } from './run.js';
import { isTerminalEvent, viewOf } from './view.js';

const terminalStates = new Set(['COMPLETED', 'FAILED', 'STOPPED']);
const stateOf: Readonly<Record<string, string>> = {
  TurnCompleted: 'COMPLETED',
  TurnFailed: 'FAILED',
  TurnStopped: 'STOPPED',
};

/**
 * I2: each turn has reached exactly one terminal state, and its terminal event is the last that anybody was told of it.
 * Every turn must be over when this is asked.
 */
export function endProblems({ sessions, watches, replays }: Run): string[] {
  const problems: string[] = [];
  const states = new Map<string, string>();
  for (const session of sessions) {
    for (const turn of session.turns) {
      states.set(turn.id, turn.status);
      if (!terminalStates.has(turn.status)) problems.push(`turn ${turn.id} is still ${turn.status}`);
      if (!turn.isFinished) problems.push(`turn ${turn.id} has no time of its end`);
      if (turn.hasOwner) problems.push(`turn ${turn.id} has ended and still has an owner`);
    }
    if (session.activeTurnId !== null) problems.push(`${session.id} still has the active turn ${session.activeTurnId}`);
    if (session.queuedTurns !== 0) problems.push(`${session.id} still has ${session.queuedTurns} queued turns`);
  }
  const told = [
    ...watches.map((watch) => ({ ...watch, name: `watch ${watch.name}` })),
    ...[...replays].map(([id, events]) => ({ name: `replay of ${id}`, events, isComplete: true })),
  ];
  for (const { name, events, isComplete } of told) {
    for (const turn of viewOf(events).turns) {
      const ends = turn.events.filter(isTerminalEvent);
      if (ends.length > 1) problems.push(`${name}: turn ${turn.turnId} has ended ${ends.length} times`);
      if (isComplete && !turn.isEnded) problems.push(`${name}: the subscription is over, turn ${turn.turnId} is not`);
      const [end] = ends;
      if (end && states.has(turn.turnId) && stateOf[end.__typename] !== states.get(turn.turnId)) {
        problems.push(`${name}: turn ${turn.turnId} was told as ${end.__typename} and is ${states.get(turn.turnId)}`);
      }
    }
  }
  return problems;
}
