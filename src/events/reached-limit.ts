/** The limit that ended a turn, with its figures when the call was to begin: USD for a limit on cost, else tokens. */
export interface ReachedLimit {
  /** Whose limit it is: the session's, which others may share, or one that the operator has set. */
  readonly scope: 'SESSION' | 'OWNER' | 'TENANT';
  readonly kind: 'COST' | 'TOKENS';
  readonly limit: number;
  readonly spent: number;
  /** What calls have reserved that were under way. */
  readonly held: number;
  /** What the call needed at least: its prompt and a few tokens of output. Null when its price is unknown. */
  readonly needed: number | null;
}

/** Whether calls under way have reserved what is missing, so that it may come free without anybody raising the limit. */
export const mayComeFree = ({ limit, spent, held, needed }: Omit<ReachedLimit, 'scope' | 'kind'>): boolean =>
  held > 0 && spent < limit && spent + (needed ?? 0) <= limit;
