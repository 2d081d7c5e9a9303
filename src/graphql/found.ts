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
