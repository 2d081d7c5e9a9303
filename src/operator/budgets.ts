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

const holderOptions = { tenant: { type: 'string' }, owner: { type: 'string' } } as const;
const limitOptions = {
  ...holderOptions,
  'max-cost-usd': { type: 'string' },
  'max-tokens': { type: 'string' },
} as const;

/** What an index takes, whatever the characters. */
const longestName = 500;

/** Below the largest amount that its column holds. */
const mostCostUsd = 1_000_000_000;

function readCost(text: string): string | null {
  if (text === 'none') return null;
  if (!/^\d+(\.\d{1,12})?$/.test(text) || new Decimal(text).gt(mostCostUsd)) {
    throw new UsageError(
      `--max-cost-usd is ${text}: give an amount from 0 to ${mostCostUsd} with up to 12 decimal places, or none.`,
    );
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
  if (owner === '') throw new UsageError('--owner is empty: nobody has that name.');
  for (const name of [tenant, owner]) {
    if (name !== undefined && (name.length > longestName || /\p{Cc}/u.test(name))) {
      throw new UsageError(`A name has up to ${longestName} characters and no line breaks.`);
    }
  }
  return { tenant: tenant ?? '', owner: owner ?? null };
}

function nameOf({ tenant, owner }: BudgetHolder): string {
  if (owner === null) return tenant === '' ? 'everybody without a tenant' : `tenant ${tenant}`;
  return tenant === '' ? `owner ${owner}` : `owner ${owner} of tenant ${tenant}`;
}

/** To its last digit, where a number would round it or show it as 1e-12. */
const money = (amount: string) => new Decimal(amount).toFixed();

async function list(pool: Database['pool']): Promise<string[]> {
  const budgets = await listOperatorBudgets(pool);
  if (budgets.length === 0) return ['No owner and no tenant has a limit.'];
  return budgets.map(({ maxCostUsd, maxTokens, ...budget }) => {
    const cost = `${money(budget.spentCostUsd)} of ${maxCostUsd === null ? 'any' : money(maxCostUsd)} USD`;
    const tokens = `${budget.spentTokens} of ${maxTokens ?? 'any'} tokens`;
    const held = `held ${money(budget.heldCostUsd)} USD, ${budget.heldTokens} tokens`;
    return `${nameOf(budget)}: ${cost}, ${tokens}, ${held}`;
  });
}

/**
 * The commands about the limits of owners and tenants, understood before any database is touched. Gives the lines to
 * print.
 *
 * @throws UsageError, and the errors of parseArgs.
 */
export function budgets([action, ...args]: readonly string[]): (pool: Database['pool']) => Promise<string[]> {
  switch (action) {
    case 'list':
      parseArgs({ args, options: {} });
      return list;
    case 'set': {
      const { values } = parseArgs({ args, options: limitOptions });
      const { 'max-cost-usd': cost, 'max-tokens': tokens } = values;
      const holder = readHolder(values);
      if (cost === undefined && tokens === undefined)
        throw new UsageError('Give --max-cost-usd, --max-tokens or both.');
      const limits = {
        ...(cost !== undefined && { maxCostUsd: readCost(cost) }),
        ...(tokens !== undefined && { maxTokens: readTokens(tokens) }),
      };
      return async (pool) => {
        await setOperatorBudget(pool, holder, limits);
        return list(pool);
      };
    }
    case 'remove': {
      const holder = readHolder(parseArgs({ args, options: holderOptions }).values);
      return async (pool) => {
        const had = await removeOperatorBudget(pool, holder);
        return [`${nameOf(holder)} ${had ? 'has no limit any more' : 'had no limit'}.`];
      };
    }
    case undefined:
      throw new UsageError('Say what is to be done with budgets: list, set or remove.');
    default:
      throw new UsageError(`There is no command budgets ${action}.`);
  }
}
