import { parseArgs } from 'node:util';
import { Decimal } from 'decimal.js';
import type { Database } from '../db/database.js';
import {
  type BudgetHolder,
  listOperatorBudgets,
  removeOperatorBudget,
  setOperatorBudget,
} from '../db/queries/operator-budgets.js';
import { UsageError } from './usage.js';

const options = {
  tenant: { type: 'string' },
  owner: { type: 'string' },
  'max-cost-usd': { type: 'string' },
  'max-tokens': { type: 'string' },
} as const;

/** Below the largest amount that its column holds. */
const mostCostUsd = 1_000_000_000;

function readCost(text: string): string | null {
  if (text === 'none') return null;
  if (!/^\d+(\.\d+)?$/.test(text) || Number(text) > mostCostUsd) {
    throw new UsageError(`--max-cost-usd is ${text}: give an amount from 0 to ${mostCostUsd}, or none.`);
  }
  return new Decimal(text).toFixed(12);
}

function readTokens(text: string): number | null {
  if (text === 'none') return null;
  const tokens = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(tokens)) {
    throw new UsageError(`--max-tokens is ${text}: give a whole number from 0 to ${Number.MAX_SAFE_INTEGER}, or none.`);
  }
  return tokens;
}

function readHolder({ tenant, owner }: { readonly tenant?: string; readonly owner?: string }): BudgetHolder {
  if (tenant === undefined && owner === undefined)
    throw new UsageError('Say whose budget it is: --owner, --tenant or both.');
  return { tenant: tenant ?? '', owner: owner ?? null };
}

const nameOf = ({ tenant, owner }: BudgetHolder) =>
  [owner !== null ? `owner ${owner}` : '', tenant !== '' || owner === null ? `tenant ${tenant}` : '']
    .filter((part) => part !== '')
    .join(' of ');

async function list(pool: Database['pool']): Promise<string[]> {
  const budgets = await listOperatorBudgets(pool);
  if (budgets.length === 0) return ['No owner and no tenant has a limit.'];
  return budgets.map(({ maxCostUsd, maxTokens, ...budget }) => {
    const cost = `${Number(budget.spentCostUsd)} of ${maxCostUsd === null ? 'any' : Number(maxCostUsd)} USD`;
    const tokens = `${budget.spentTokens} of ${maxTokens ?? 'any'} tokens`;
    const held = `held ${Number(budget.heldCostUsd)} USD, ${budget.heldTokens} tokens`;
    return `${nameOf(budget)}: ${cost}, ${tokens}, ${held}`;
  });
}

/**
 * The commands about the limits of owners and tenants. Gives the lines to print.
 *
 * @throws UsageError.
 */
export async function budgets(pool: Database['pool'], [action, ...args]: readonly string[]): Promise<string[]> {
  const { values } = parseArgs({ args: [...args], options });
  const { 'max-cost-usd': cost, 'max-tokens': tokens } = values;
  switch (action) {
    case 'list':
      return list(pool);
    case 'set': {
      const holder = readHolder(values);
      if (cost === undefined && tokens === undefined)
        throw new UsageError('Give --max-cost-usd, --max-tokens or both.');
      await setOperatorBudget(pool, holder, {
        ...(cost !== undefined && { maxCostUsd: readCost(cost) }),
        ...(tokens !== undefined && { maxTokens: readTokens(tokens) }),
      });
      return list(pool);
    }
    case 'remove': {
      const holder = readHolder(values);
      return [
        `${nameOf(holder)} ${(await removeOperatorBudget(pool, holder)) ? 'has no limit any more' : 'had no limit'}.`,
      ];
    }
    default:
      throw new UsageError(`There is no command ${['budgets', action].join(' ')}.`);
  }
}
