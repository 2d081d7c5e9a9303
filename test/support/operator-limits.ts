import type { Pool } from 'pg';
import {
  type BudgetHolder,
  listOperatorBudgets,
  removeOperatorBudget,
  setOperatorBudget,
} from '../../src/db/queries/operator-budgets.js';
import { type ChatClient, chatClient } from './client.js';
import { sign } from './tokens.js';

/** A caller of a server with AUTH_JWT_SECRET. */
export async function signedIn(url: string, sub: string, tenant?: string): Promise<ChatClient> {
  const token = await sign({ sub, ...(tenant !== undefined && { tenant }) });
  return chatClient(url, { headers: { authorization: `Bearer ${token}` } });
}

/** Sets limits as an operator does, while `work` runs. */
export async function underLimit<Result>(
  pool: Pool,
  holder: BudgetHolder,
  limits: { readonly maxCostUsd?: string; readonly maxTokens?: number },
  work: () => Promise<Result>,
): Promise<Result> {
  await setOperatorBudget(pool, holder, limits);
  try {
    return await work();
  } finally {
    await removeOperatorBudget(pool, holder);
  }
}

/** What the operator sees of one budget. */
export const operatorBudget = async (pool: Pool, { tenant, owner }: BudgetHolder) =>
  (await listOperatorBudgets(pool)).find((budget) => budget.tenant === tenant && budget.owner === owner);
