// biome-ignore lint/suspicious/noExplicitAny: what a test reads from an event is its own business.
type Event = any;

/** Whether an event, as a client gets it, is the last of its turn. */
export const isEnd = ({ __typename }: Event): boolean =>
  __typename === 'TurnCompleted' || __typename === 'TurnFailed' || __typename === 'TurnStopped';

/** What a client has of a turn when it drops what it had at every TurnStarted, as the contract says. */
export function sinceLastStart(events: readonly Event[]): Event[] {
  return events.slice(events.findLastIndex((event) => event.__typename === 'TurnStarted'));
}

/** Sequence before an event. */
export const startOf = ({ sequence, delta }: Event): number => sequence - (delta?.length ?? 1);

/** Where events do not lie side by side: pairs of the end of one and the start of the next. Empty when gapless. */
export function gapsIn(events: readonly Event[]): [number, number][] {
  return events.slice(1).flatMap((event, at): [number, number][] => {
    const end = events[at].sequence;
    return startOf(event) === end ? [] : [[end, startOf(event)]];
  });
}

/**
 * The text of a client that puts every piece into its place by its sequence number: in whatever order and however
 * often pieces come, and however they were merged.
 */
export function textByPlace(events: readonly Event[]): string {
  const units = new Map<number, string>();
  for (const event of events) {
    if (event.__typename !== 'TextDelta') continue;
    const start = startOf(event);
    for (let at = 0; at < event.delta.length; at += 1) units.set(start + at, event.delta[at]);
  }
  return [...units.entries()]
    .sort(([a], [b]) => a - b)
    .map(([, unit]) => unit)
    .join('');
}
