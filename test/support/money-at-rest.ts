import { Decimal } from 'decimal.js';
import type { Pool } from 'pg';
import { lastUserText, type RecordedRequest } from './provider.js';

const Exact = Decimal.clone({ precision: 60 });

/** USD per million tokens. */
export interface Prices {
  readonly inputPrice: number;
  readonly cachedInputPrice: number;
  readonly outputPrice: number;
}

// Budgets that were overdrawn, hold something, or differ from the sum of their ledger rows.
const budgets = `
SELECT b.scope, b.id, b.max_cost_usd::text, b.spent_cost_usd::text, b.held_cost_usd::text, b.max_tokens, b.spent_tokens, b.held_tokens,
       k.cost::text AS ledger_cost, k.tokens AS ledger_tokens
FROM budgets b, LATERAL (
  SELECT coalesce(sum(c.cost_usd), 0) AS cost, coalesce(sum(c.input_tokens + c.output_tokens), 0) AS tokens FROM model_calls c
  WHERE CASE b.scope WHEN 'SESSION' THEN c.budget_id = b.id WHEN 'OWNER' THEN c.tenant = b.tenant AND c.owner = b.owner ELSE c.tenant = b.tenant END
) AS k
WHERE (b.scope <> 'SESSION' OR b.id = ANY($1::uuid[]))
  AND (b.spent_cost_usd > b.max_cost_usd OR b.spent_tokens > b.max_tokens OR b.held_cost_usd <> 0 OR b.held_tokens <> 0
       OR b.spent_cost_usd <> k.cost OR b.spent_tokens <> k.tokens)`;

const sessions = `
SELECT s.id, s.total_cost_usd::text, k.cost::text AS ledger_cost, s.input_tokens, k.input, s.output_tokens, k.output
FROM chat_sessions s, LATERAL (
  SELECT coalesce(sum(c.cost_usd), 0) AS cost, coalesce(sum(c.input_tokens), 0) AS input, coalesce(sum(c.output_tokens), 0) AS output
  FROM model_calls c WHERE c.session_id = s.id
) AS k
WHERE s.budget_id = ANY($1::uuid[])
  AND (s.total_cost_usd <> k.cost OR s.input_tokens <> k.input OR s.output_tokens <> k.output)`;

const calls = `
SELECT m.content AS text, c.status, c.error_code, c.usage_estimated AS estimated, c.input_tokens AS input, c.cached_input_tokens AS cached,
       c.output_tokens AS output, c.cost_usd::text AS cost,
       t.status = 'COMPLETED' AND t.attempts = 1 AS undisturbed
FROM model_calls c JOIN turns t ON t.id = c.turn_id JOIN messages m ON m.id = t.user_message_id
WHERE c.budget_id = ANY($1::uuid[]) ORDER BY c.id`;

interface Call {
  readonly text: string;
  readonly status: string;
  readonly error_code: string | null;
  readonly estimated: boolean;
  readonly input: string;
  readonly cached: string;
  readonly output: string;
  readonly cost: string;
  /** Whether its turn had one owner, whom nobody cut short. */
  readonly undisturbed: boolean;
}

/** A bill in one form, to be found among others. */
const bill = (input: number, cached: number, output: number, cost: Decimal) =>
  `${input} in, ${cached} cached, ${output} out, ${cost.toFixed(12)} USD`;

const billOf = ({ input, cached, output, cost }: Call) =>
  bill(Number(input), Number(cached), Number(output), new Exact(cost));

/** What the provider charges for a request by its own log; null when it has reported nothing. */
function chargeFor({ sent }: RecordedRequest, { inputPrice, cachedInputPrice, outputPrice }: Prices): string | null {
  if (!sent.usage) return null;
  const { prompt_tokens: input, completion_tokens: output, prompt_tokens_details: details } = sent.usage as never;
  const { cached_tokens: cached } = details;
  const cost = new Exact(inputPrice)
    .times(input - cached)
    .plus(new Exact(cachedInputPrice).times(cached))
    .plus(new Exact(outputPrice).times(output))
    .dividedBy(1_000_000);
  return bill(input, cached, output, cost);
}

/** Each row is what a request was charged, or flagged as an estimate, or of a request that was refused before any work. */
function billProblems(rows: readonly Call[], requests: readonly RecordedRequest[], prices: Prices): string[] {
  const problems: string[] = [];
  const open = requests.map((request) => ({
    text: lastUserText(request),
    charge: chargeFor(request, prices),
    isWhole: request.sent.isWhole,
  }));
  const undisturbed = new Set(rows.filter((row) => row.undisturbed).map(({ text }) => text));
  for (const row of rows) {
    const told = `"${row.text}", ${row.status} ${row.error_code ?? ''}: ${billOf(row)}`;
    if (row.status === 'PENDING') problems.push(`${told} is still pending`);
    if (row.estimated) {
      if (Number(row.input) === 0 || Number(row.cost) === 0) problems.push(`${told} is estimated at nothing`);
      continue;
    }
    const isRefusal = row.status === 'FAILED' && row.error_code === 'PROVIDER_UNAVAILABLE';
    const charge = isRefusal ? null : billOf(row);
    if (isRefusal && Number(row.cost) !== 0) problems.push(`${told} was refused and is charged`);
    const at = open.findIndex((request) => request.text === row.text && request.charge === charge);
    if (at < 0) problems.push(`${told} is not what the provider says`);
    else open.splice(at, 1);
  }
  for (const { text, charge, isWhole } of open) {
    if (isWhole && charge && undisturbed.has(text))
      problems.push(`"${text}" was charged ${charge}, which is not booked`);
  }
  for (const text of new Set(requests.map(lastUserText))) {
    const asked = requests.filter((request) => lastUserText(request) === text).length;
    const booked = rows.filter((row) => row.text === text).length;
    if (asked > booked) problems.push(`"${text}" was asked ${asked} times and booked ${booked} times`);
  }
  return problems;
}

/**
 * What is wrong with the money of these sessions' budgets, and of all operator's budgets, once no turn runs: to the last
 * digit.
 *
 * @param requests those that the turns of these budgets have made
 */
export async function moneyProblemsAtRest(
  pool: Pool,
  budgetIds: readonly string[],
  requests: readonly RecordedRequest[],
  prices: Prices,
): Promise<string[]> {
  const [wrongBudgets, wrongSessions, rows] = await Promise.all([
    pool.query(budgets, [budgetIds]),
    pool.query(sessions, [budgetIds]),
    pool.query<Call>(calls, [budgetIds]),
  ]);
  return [
    ...wrongBudgets.rows.map((row) => `budget ${JSON.stringify(row)}`),
    ...wrongSessions.rows.map((row) => `session ${JSON.stringify(row)}`),
    ...billProblems(rows.rows, requests, prices),
  ];
}
