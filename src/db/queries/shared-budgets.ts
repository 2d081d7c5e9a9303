import type { Queryable } from './queryable.js';

/**
 * Which of these budgets more than one session draws on. Prisma's own count of a relation would group all sessions of
 * the whole table; this looks at two entries of an index per budget.
 */
export async function sharedBudgets(db: Queryable, budgetIds: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ id: string }>({
    name: 'shared-budgets',
    text: `
SELECT b.id FROM unnest($1::uuid[]) AS b(id)
WHERE (SELECT count(*) FROM (SELECT FROM chat_sessions s WHERE s.budget_id = b.id LIMIT 2) AS two) > 1`,
    values: [budgetIds],
  });
  return new Set(rows.map(({ id }) => id));
}
