/** Whose events a cursor counts. */
export interface EventSource {
  readonly turnNumber: number;
  readonly turnId: string;
}

/** A place in a session's events. */
export interface EventPosition {
  readonly turnNumber: number;
  readonly sequence: number;
  /** The end of the turn's id, so that a cursor of another session is noticed. */
  readonly turnMark: string;
}

const pattern = /^(\d{1,9})\.(\d{1,10})\.([0-9a-f]{12})$/;

/** The part of a turn's id that its cursors carry. */
export const turnMark = (turnId: string) => turnId.slice(-12);

/** Cursors sort by turn, then by sequence, and so serve a whole session; clients treat them as opaque. */
export function encodeCursor({ turnNumber, turnId }: EventSource, sequence: number): string {
  return Buffer.from(`${turnNumber}.${sequence}.${turnMark(turnId)}`).toString('base64url');
}

/** Null for anything that encodeCursor did not make. */
export function decodeCursor(cursor: string): EventPosition | null {
  if (cursor.length > 64) return null;
  const match = pattern.exec(Buffer.from(cursor, 'base64url').toString('latin1'));
  if (!match) return null;
  return { turnNumber: Number(match[1]), sequence: Number(match[2]), turnMark: String(match[3]) };
}
