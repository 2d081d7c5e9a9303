/** The limit that ended a turn, with its figures at that moment: USD for a limit on cost, else tokens. */
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
