import { badInput } from '../errors.js';

export const defaultPageSize = 20;
export const maxPageSize = 100;

/** The arguments of a connection, as graphql hands them over. */
export interface PageArguments {
  readonly first?: number | null | undefined;
  readonly last?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly before?: string | null | undefined;
}

/** A page that was asked for, with the cursors still closed. */
export interface PageRequest {
  readonly size: number;
  /** True when the page is counted from the front of the list. */
  readonly forward: boolean;
}

const count = (name: string, value: number): number => {
  if (value < 0) {
    throw badInput(`${name} must not be negative: give 0 to ${maxPageSize}.`);
  }
  return Math.min(value, maxPageSize);
};

/**
 * Size and direction of a page: 20 from the front without first and last, at most 100.
 *
 * @throws ChatError BAD_USER_INPUT for a negative size, and for both sizes at once
 */
export function pageRequest({ first, last }: PageArguments): PageRequest {
  if (first != null && last != null) {
    throw badInput('Give first or last, not both: a page is counted from one end of the list.');
  }
  if (last != null) {
    return { size: count('last', last), forward: false };
  }
  return { size: count('first', first ?? defaultPageSize), forward: true };
}

/** What a connection counts for in the complexity of an operation: once for each node it may bring. Never throws. */
export const pageComplexity = ({ first, last }: PageArguments) => ({
  field: 1,
  multiplier: Math.max(0, Math.min(first ?? last ?? defaultPageSize, maxPageSize)),
});
