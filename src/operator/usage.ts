/** The command was not understood; the message says how it is written. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export const usage = `Usage:
  budgets list
  budgets set --tenant NAME [--owner NAME] [--max-cost-usd AMOUNT|none] [--max-tokens COUNT|none]
  budgets remove --tenant NAME [--owner NAME]
  ledger [--format csv|jsonl] [--from TIME] [--to TIME] [--owner NAME] [--tenant NAME]

Without --tenant, an owner is one of a server without tenants. TIME is a date or an ISO 8601 time, from included, to not.
The database is that of DATABASE_URL, or the embedded one in DATA_DIR, whether its server runs or not.`;
