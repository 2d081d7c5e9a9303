import { ChatError } from '../errors.js';

/**
 * The row, or the one answer for what is not there and what is not the caller's.
 *
 * @throws ChatError NOT_FOUND
 */
export function found<Row>(row: Row | null | undefined): Row {
  if (row == null) {
    throw new ChatError('NOT_FOUND');
  }
  return row;
}

/** For relations that are never null in the store: the object was deleted between the two statements that read it. */
export const gone = (): ChatError => new ChatError('NOT_FOUND');
