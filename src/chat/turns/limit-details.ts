import type { ErrorDetails } from '../../errors.js';
import type { ReachedLimit } from '../../events/reached-limit.js';

/** A limit that refuses something. */
export type RefusingLimit = Pick<ReachedLimit, 'scope' | 'kind' | 'limit' | 'spent' | 'held'> & Partial<ReachedLimit>;

/** What the error of a limit tells a program: whose limit it is, on what, and its figures. */
export const limitDetails = ({ scope, kind, limit, spent, held, needed = null }: RefusingLimit): ErrorDetails => ({
  limitScope: scope,
  limitKind: kind,
  limit,
  spent,
  held,
  ...(needed !== null && { needed }),
});
