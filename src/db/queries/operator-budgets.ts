import type { Pool } from 'pg';
import { newId } from '../../ids.js';
import { inTransaction } from '../transaction.js';
import type { Queryable } from './queryable.js';

/** Whose spending an operator limits: that of one owner in a tenant, or with null for the owner that of a tenant. */
export interface BudgetHolder {
  readonly tenant: string;
  readonly owner: string | null;
}

/** Money as decimal strings in USD; null is unlimited. */
export interface OperatorBudget extends BudgetHolder {
  readonly maxCostUsd: string | null;
  readonly maxTokens: string | null;
  readonly spentCostUsd: string;
  readonly spentTokens: string;
  readonly heldCostUsd: string;
  readonly heldTokens: string;
}

/** Whether the operator has limited what this caller, or its tenant, may spend in money. */
export async function hasOperatorCostLimit(
  db: Queryable,
  { owner, tenant }: { readonly owner: string; readonly tenant: string },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'operator-cost-limit',
    text: `
SELECT FROM budgets
WHERE tenant = $2 AND max_cost_usd IS NOT NULL AND (scope = 'OWNER' AND owner = $1 OR scope = 'TENANT') LIMIT 1`,
    values: [owner, tenant],
  });
  return rowCount === 1;
}

const isHolder = `tenant = $1 AND CASE WHEN $2::text IS NULL THEN scope = 'TENANT' ELSE scope = 'OWNER' AND owner = $2 END`;

const change = `
UPDATE budgets
SET max_cost_usd = CASE WHEN $3 THEN $4::numeric ELSE max_cost_usd END,
    max_tokens = CASE WHEN $5 THEN $6::bigint ELSE max_tokens END, updated_at = now()
WHERE ${isHolder}`;

// What was spent before there was a limit counts as well, and calls that are under way become a matter of the new budget.
const isOfHolder = 'tenant = $1 AND ($2::text IS NULL OR owner = $2)';
const create = `
INSERT INTO budgets (id, scope, tenant, owner, max_cost_usd, max_tokens, spent_cost_usd, spent_tokens, held_cost_usd, held_tokens)
SELECT $7, CASE WHEN $2::text IS NULL THEN 'TENANT' ELSE 'OWNER' END::budget_scope, $1, coalesce($2, ''),
       CASE WHEN $3 THEN $4::numeric END, CASE WHEN $5 THEN $6::bigint END,
       coalesce(sum(cost_usd), 0), coalesce(sum(input_tokens + output_tokens), 0),
       coalesce(sum(held_cost_usd) FILTER (WHERE status = 'PENDING'), 0),
       coalesce(sum(held_tokens) FILTER (WHERE status = 'PENDING'), 0)
FROM model_calls WHERE ${isOfHolder}`;
const join = `UPDATE model_calls SET held_by = held_by || $3::uuid WHERE ${isOfHolder} AND status = 'PENDING'`;

/**
 * Sets limits of an owner or a tenant; one that is left out stays as it is, or is none in a new budget. Model calls are
 * neither opened nor settled while a new budget counts what was spent so far.
 */
export async function setOperatorBudget(
  pool: Pool,
  { tenant, owner }: BudgetHolder,
  limits: { readonly maxCostUsd?: string | null; readonly maxTokens?: number | null },
): Promise<void> {
  const { maxCostUsd, maxTokens } = limits;
  const values = [
    tenant,
    owner,
    maxCostUsd !== undefined,
    maxCostUsd ?? null,
    maxTokens !== undefined,
    maxTokens ?? null,
  ];
  await inTransaction(pool, async (db) => {
    // Every statement that opens or settles a call writes here, and takes its snapshot once it may.
    await db.query({ text: 'LOCK TABLE model_calls IN SHARE ROW EXCLUSIVE MODE' });
    if ((await db.query({ text: change, values })).rowCount === 1) return;
    const id = newId();
    await db.query({ text: create, values: [...values, id] });
    await db.query({ text: join, values: [tenant, owner, id] });
  });
}

/** Takes all limits from an owner or a tenant. False when there were none. */
export async function removeOperatorBudget(db: Queryable, { tenant, owner }: BudgetHolder): Promise<boolean> {
  const { rowCount } = await db.query({ text: `DELETE FROM budgets WHERE ${isHolder}`, values: [tenant, owner] });
  return rowCount === 1;
}

interface Row {
  tenant: string;
  owner: string;
  scope: string;
  max_cost_usd: string | null;
  max_tokens: string | null;
  spent_cost_usd: string;
  spent_tokens: string;
  held_cost_usd: string;
  held_tokens: string;
}

/** All budgets that an operator has set, those of tenants first. */
export async function listOperatorBudgets(db: Queryable): Promise<OperatorBudget[]> {
  const { rows } = await db.query<Row>({
    text: `
SELECT tenant, owner, scope, max_cost_usd, max_tokens, spent_cost_usd, spent_tokens, held_cost_usd, held_tokens
FROM budgets WHERE scope <> 'SESSION' ORDER BY tenant, scope DESC, owner`,
  });
  return rows.map((row) => ({
    tenant: row.tenant,
    owner: row.scope === 'TENANT' ? null : row.owner,
    maxCostUsd: row.max_cost_usd,
    maxTokens: row.max_tokens,
    spentCostUsd: row.spent_cost_usd,
    spentTokens: row.spent_tokens,
    heldCostUsd: row.held_cost_usd,
    heldTokens: row.held_tokens,
  }));
}
