/** The command was not understood; the message says how it is written. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export const usage = `Usage:
  budgets list
  budgets set [--tenant NAME] [--owner NAME] [--max-cost-usd AMOUNT|none] [--max-tokens COUNT|none]
  budgets remove [--tenant NAME] [--owner NAME]
  ledger [--format csv|jsonl] [--from TIME] [--to TIME] [--owner NAME] [--tenant NAME]

A budget is that of a tenant, of an owner in a tenant, or of an owner on a server without tenants. TIME is a date in UTC
such as 2026-11-30, or a time with its zone such as 2026-11-30T08:00:00Z; the ledger begins with --from and ends before --to.
The database is that of DATABASE_URL, or the embedded one in DATA_DIR, whether its server runs or not.`;
