/** Whose events a cursor counts. */
export interface EventSource {
  readonly turnNumber: number;
  readonly turnId: string;
}

/** A place in a session's events. */
export interface EventPosition {
  readonly turnNumber: number;
  readonly sequence: number;
  /** The end of the id of the turn, or of the session, so that a cursor of another session is noticed. */
  readonly mark: string;
}

const pattern = /^(\d{1,9})\.(\d{1,10})\.([0-9a-f]{12})$/;

/** The part of an id that its cursors carry. */
export const markOf = (id: string) => id.slice(-12);

const encode = (turnNumber: number, sequence: number, id: string): string =>
  Buffer.from(`${turnNumber}.${sequence}.${markOf(id)}`).toString('base64url');

/** Cursors sort by turn, then by sequence, and so serve a whole session; clients treat them as opaque. */
export const encodeCursor = ({ turnNumber, turnId }: EventSource, sequence: number): string =>
  encode(turnNumber, sequence, turnId);

/** The place in a session that lies behind all events of its turns up to this number, and before all others. */
export const encodeSessionCursor = (sessionId: string, turnNumber: number): string => encode(turnNumber, 0, sessionId);

/** Null for anything that these two did not make. */
export function decodeCursor(cursor: string): EventPosition | null {
  if (cursor.length > 64) return null;
  const match = pattern.exec(Buffer.from(cursor, 'base64url').toString('latin1'));
  if (!match) return null;
  return { turnNumber: Number(match[1]), sequence: Number(match[2]), mark: String(match[3]) };
}
