import type { OperationScope } from './options.js';

/**
 * What an operation comes to that its client has left. The protocol frees the id of an operation at that moment, and
 * once more, with a `complete` to the client, when the operation itself is over; by then the id may be that of another,
 * which would be ended in its place. So the operation is not over: it waits for ever, held by nobody.
 */
export const never = <T>(): Promise<T> => new Promise(() => {});

/** The outcome of a step of an operation, unless its client has left meanwhile. */
export async function unlessLeft<T>(
  scope: Pick<OperationScope, 'isOver'>,
  step: () => Promise<T> | T,
  discard: (outcome: T) => void = () => {},
): Promise<T> {
  try {
    const outcome = await step();
    if (!scope.isOver) {
      return outcome;
    }
    discard(outcome);
  } catch (error) {
    if (!scope.isOver) {
      throw error;
    }
  }
  return never();
}
