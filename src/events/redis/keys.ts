import { createHash } from 'node:crypto';

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

/**
 * A namespace made from where the database is: the same for every process that names host, port and database alike,
 * whatever its user and password are.
 */
export function namespaceOf(databaseUrl: string): string {
  const { hostname, port, pathname } = new URL(databaseUrl);
  return createHash('sha256')
    .update(`${hostname}:${port || '5432'}${pathname}`)
    .digest('base64url')
    .slice(0, 12);
}
