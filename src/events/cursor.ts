/** Whose events a cursor counts: a turn, as run by one of its owners. */
export interface EventSource {
  readonly number: number;
  /**
   * Rises with every owner of the turn. What an owner told but did not store is lost with it, so the same sequence may
   * mean something else under the next one.
   */
  readonly epoch: number;
  readonly turnId: string;
}

/** A place in a session's events. */
export interface EventPosition {
  readonly turnNumber: number;
  readonly epoch: number;
  readonly sequence: number;
  /** The end of the turn's id, so that a cursor of another session is noticed. */
  readonly turnMark: string;
}

const pattern = /^(\d{1,9})\.(\d{1,9})\.(\d{1,10})\.([0-9a-f]{12})$/;

/** The part of a turn's id that its cursors carry. */
export const turnMark = (turnId: string) => turnId.slice(-12);

/** Cursors sort by turn, then by owner, then by sequence, and so serve a whole session; clients treat them as opaque. */
export function encodeCursor({ number, epoch, turnId }: EventSource, sequence: number): string {
  return Buffer.from(`${number}.${epoch}.${sequence}.${turnMark(turnId)}`).toString('base64url');
}

/** Null for anything that encodeCursor did not make. */
export function decodeCursor(cursor: string): EventPosition | null {
  if (cursor.length > 64) return null;
  const match = pattern.exec(Buffer.from(cursor, 'base64url').toString('latin1'));
  if (!match) return null;
  const [turnNumber, epoch, sequence] = match.slice(1, 4).map(Number) as [number, number, number];
  return { turnNumber, epoch, sequence, turnMark: String(match[4]) };
}
