import { Decimal } from 'decimal.js';
import type { Pool } from 'pg';
import { localPrincipal } from '../../src/auth/principal.js';
import { type BudgetHolder, setOperatorBudget } from '../../src/db/queries/operator-budgets.js';
import { parseGlobalId } from '../../src/graphql/ids.js';
import type { Fleet } from './fleet.js';

/** With digits that show whether sums and products are exact. USD per million tokens. */
export const prices = { inputPrice: 0.37, cachedInputPrice: 0.1301, outputPrice: 2.9303 };

/** One that says how much it writes, and one that does not. */
export const models = {
  scripted: { contextWindow: 4_096, maxOutputTokens: 400, ...prices },
  boundless: { contextWindow: 2_048, ...prices },
};

/** About what a call of the first model reserves. */
const tokensOfCall = 450;
const costOfCall = (50 * prices.inputPrice + 400 * prices.outputPrice) / 1_000_000;

export const limitKinds = [
  'SESSION cost',
  'OWNER cost',
  'SESSION tokens',
  'OWNER tokens',
  'SESSION cost',
  'TENANT cost',
] as const;

/** That of a server without authentication, and its one caller. */
export const tenantOfAll: BudgetHolder = { tenant: localPrincipal.tenant, owner: null };
const holders: Readonly<Record<string, BudgetHolder>> = { OWNER: localPrincipal, TENANT: tenantOfAll };

/** Sessions under one limit. */
export interface RoundLimit {
  readonly kind: (typeof limitKinds)[number];
  readonly sessionIds: readonly string[];
  readonly budgetIds: readonly string[];
  /** For the report of a failure. */
  readonly told: Readonly<Record<string, unknown>>;
  /** How many turns the limit has cut short, and how much it has left, in USD or tokens. */
  outcome(): Promise<{ readonly cut: number; readonly left: number }>;
}

interface RoundOptions {
  readonly pool: Pool;
  readonly fleet: Fleet;
  readonly random: () => number;
  readonly kind: RoundLimit['kind'] | undefined;
}

const databaseId = (id: string) => parseGlobalId(id)?.id as string;

/** Settings of a session by chance: all make one step, but for those that may call a tool. */
function settingsOf(random: () => number): Record<string, unknown> {
  const chance = random();
  if (chance < 0.06) return { model: 'boundless', tools: [], maxStepsPerTurn: 1 };
  if (chance < 0.4)
    return { tools: ['look_up'], maxStepsPerTurn: 3, maxOutputTokens: 100 + Math.floor(random() * 300) };
  return { tools: [], maxStepsPerTurn: 1 };
}

async function spentOf(pool: Pool, { owner, tenant }: BudgetHolder) {
  const { rows } = await pool.query<{ cost: string; tokens: string }>(
    `SELECT coalesce(sum(cost_usd), 0)::text AS cost, coalesce(sum(input_tokens + output_tokens), 0)::text AS tokens
     FROM model_calls WHERE tenant = $1 AND ($2::text IS NULL OR owner = $2)`,
    [tenant, owner],
  );
  return rows[0] as { cost: string; tokens: string };
}

/** Makes new sessions under a limit that affords between one and a half and five calls, and lifts those of the round before. */
export async function limitRound(
  { pool, fleet, random, kind = 'SESSION cost' }: RoundOptions,
  count: number,
): Promise<RoundLimit> {
  const [scope = '', of] = kind.split(' ');
  const calls = 1.5 + random() * 3.5;
  const maxCostUsd = of === 'cost' ? new Decimal(calls * costOfCall).toFixed(12) : null;
  const maxTokens = of === 'tokens' ? Math.round(calls * tokensOfCall) : null;
  for (const [name, holder] of Object.entries(holders)) {
    const spent = await spentOf(pool, holder);
    const isLimited = name === scope;
    await setOperatorBudget(pool, holder, {
      maxCostUsd: isLimited && maxCostUsd !== null ? new Decimal(spent.cost).plus(maxCostUsd).toFixed(12) : null,
      maxTokens: isLimited && maxTokens !== null ? Number(spent.tokens) + maxTokens : null,
    });
  }
  const isShared = scope === 'SESSION';
  const budget = isShared
    ? { maxCostUsd: maxCostUsd && Number(maxCostUsd), maxTokens }
    : { maxCostUsd: null, maxTokens: null };
  const first = await fleet.client().createSession({ ...settingsOf(random), budget });
  const others = Array.from({ length: count - 1 }, () => ({
    ...settingsOf(random),
    ...(isShared ? { shareBudgetOf: first } : { budget }),
  }));
  const sessionIds = [first, ...(await Promise.all(others.map((input) => fleet.client().createSession(input))))];
  const ids = sessionIds.map(databaseId);
  const { rows } = await pool.query<{ id: string }>(
    'SELECT DISTINCT budget_id AS id FROM chat_sessions WHERE id = ANY($1::uuid[])',
    [ids],
  );
  const budgetIds = rows.map(({ id }) => id);
  return {
    kind,
    sessionIds,
    budgetIds,
    told: { kind, maxCostUsd, maxTokens },
    async outcome() {
      const { rows: turns } = await pool.query<{ cut: number }>(
        `SELECT count(*)::int AS cut FROM turns WHERE session_id = ANY($1::uuid[]) AND finish_reason = 'BUDGET'`,
        [ids],
      );
      const { rows: budgets } = await pool.query<{ left: string }>(
        `SELECT coalesce(max_cost_usd - spent_cost_usd, max_tokens - spent_tokens)::text AS left
         FROM budgets WHERE id = ANY($1::uuid[]) AND scope = 'SESSION' AND $2 OR scope::text = $3 AND NOT $2`,
        [budgetIds, isShared, scope],
      );
      return { cut: turns[0]?.cut ?? 0, left: Number(budgets[0]?.left) };
    },
  };
}
