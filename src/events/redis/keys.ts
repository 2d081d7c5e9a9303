/** Names of the streams of one feed. */
export interface FeedKeys {
  turn(turnId: string): string;
  readonly signals: string;
  /** Read by one process only: an entry in it ends a read that waits, so that it can start anew with other streams. */
  readonly wake: string;
}

/** @param namespace what all processes on one database share, and those on another do not */
export function feedKeys(namespace: string, processId: string): FeedKeys {
  const prefix = `chatsession:${namespace}`;
  const turns = `${prefix}:turn:`;
  return {
    turn: (turnId) => turns + turnId,
    signals: `${prefix}:signals`,
    wake: `${prefix}:wake:${processId}`,
  };
}
