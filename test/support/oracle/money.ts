import { Decimal } from 'decimal.js';
import { groupBy } from './group-by.js';
import type { StoredModelCall, StoredSession } from './read-database.js';
import type { ProviderRequest, Run } from './run.js';

const Exact = Decimal.clone({ precision: 60 });
const sum = (values: readonly string[]) => values.reduce((total, value) => total.plus(value), new Exact(0));
const total = (calls: readonly StoredModelCall[], of: (call: StoredModelCall) => number) =>
  calls.reduce((all, call) => all + of(call), 0);

/** What a call costs at the prices of its row; null when one of them is unknown. */
function priceOf(call: StoredModelCall): string | null {
  const { inputPrice, outputPrice } = call;
  if (inputPrice === null || outputPrice === null) return null;
  const cachedPrice = call.cachedInputPrice ?? inputPrice;
  return new Exact(inputPrice)
    .times(call.inputTokens - call.cachedInputTokens)
    .plus(new Exact(cachedPrice).times(call.cachedInputTokens))
    .plus(new Exact(outputPrice).times(call.outputTokens))
    .dividedBy(1_000_000)
    .toFixed(12);
}

function callProblems(call: StoredModelCall): string[] {
  const name = `call of step ${call.step}, attempt ${call.attempt}, of turn ${call.turnId}`;
  const problems: string[] = [];
  if (call.status === 'PENDING') problems.push(`${name} is still PENDING`);
  const tokens = call.inputTokens + call.outputTokens;
  if (call.estimated && tokens > call.heldTokens) {
    problems.push(`${name} is estimated at ${tokens} tokens, and ${call.heldTokens} were reserved`);
  }
  const price = priceOf(call);
  if (price !== null && !new Exact(price).equals(call.costUsd))
    problems.push(`${name} costs ${call.costUsd}, not ${price}`);
  return problems;
}

/** Whether totals of a turn, a session or a budget are what its rows of the ledger come to. */
function totalProblems(
  name: string,
  stored: { readonly inputTokens: number; readonly outputTokens: number; readonly costUsd: string },
  calls: readonly StoredModelCall[],
): string[] {
  const problems: string[] = [];
  const input = total(calls, (call) => call.inputTokens);
  const output = total(calls, (call) => call.outputTokens);
  const cost = sum(calls.map((call) => call.costUsd));
  if (stored.inputTokens !== input)
    problems.push(`${name} has ${stored.inputTokens} input tokens, its ledger ${input}`);
  if (stored.outputTokens !== output)
    problems.push(`${name} has ${stored.outputTokens} output tokens, its ledger ${output}`);
  if (!cost.equals(stored.costUsd)) problems.push(`${name} has cost ${stored.costUsd}, its ledger ${cost.toFixed()}`);
  return problems;
}

/** A limit is passed only by a provider that reports more than a call can have come to by any count of ours. */
function limitProblems({ budget, modelCalls }: StoredSession): string[] {
  const { id, maxCostUsd, maxTokens, spentCostUsd, spentTokens } = budget;
  if (modelCalls.some((call) => call.inputTokens + call.outputTokens > call.heldTokens)) return [];
  const problems: string[] = [];
  if (maxTokens !== null && spentTokens > maxTokens)
    problems.push(`budget ${id} has spent ${spentTokens} of ${maxTokens} tokens`);
  if (maxCostUsd !== null && new Exact(spentCostUsd).greaterThan(maxCostUsd))
    problems.push(`budget ${id} has spent ${spentCostUsd} of ${maxCostUsd} USD`);
  return problems;
}

function budgetProblems({ budget }: StoredSession): string[] {
  const problems: string[] = [];
  const { id, spentCostUsd, spentTokens, heldCostUsd, heldTokens, ledgerCostUsd, ledgerTokens } = budget;
  if (!new Exact(spentCostUsd).equals(ledgerCostUsd))
    problems.push(`budget ${id} has spent ${spentCostUsd}, its ledger ${ledgerCostUsd}`);
  if (spentTokens !== ledgerTokens)
    problems.push(`budget ${id} has spent ${spentTokens} tokens, its ledger ${ledgerTokens}`);
  if (heldTokens !== 0 || !new Exact(heldCostUsd).isZero()) problems.push(`budget ${id} still holds money`);
  return problems;
}

/** Whether the requests about one user message and the rows about it fit together. */
function requestProblems(
  text: string,
  calls: readonly StoredModelCall[],
  requests: readonly ProviderRequest[],
): string[] {
  const problems: string[] = [];
  if (requests.length > calls.length) {
    problems.push(`"${text}": the provider was asked ${requests.length} times, the ledger has ${calls.length} rows`);
  }
  const reported = requests.map(({ usage }) => usage);
  for (const call of calls) {
    if (call.status !== 'SUCCEEDED') continue;
    const at = reported.findIndex((usage) =>
      call.estimated ? usage === null : usage?.prompt === call.inputTokens && usage.completion === call.outputTokens,
    );
    if (at < 0) {
      const booked = call.estimated ? 'an estimate' : `${call.inputTokens} and ${call.outputTokens} tokens`;
      problems.push(`"${text}": ${booked} is booked for step ${call.step}, which the provider did not report`);
    } else {
      reported.splice(at, 1);
    }
  }
  return problems;
}

/**
 * I7: the ledger agrees with the totals of turn, session and budget, with the prices and with the provider's log. At rest
 * nothing is pending or held. A row may exist for a request that was never sent; a request without a row may not.
 */
export function moneyProblems({ sessions, requests }: Run): string[] {
  const problems: string[] = [];
  const callsByText = new Map<string, StoredModelCall[]>();
  for (const session of sessions) {
    const { id, modelCalls, turns, messages, totalCostUsd } = session;
    problems.push(...modelCalls.flatMap(callProblems), ...budgetProblems(session), ...limitProblems(session));
    problems.push(...totalProblems(id, { ...session, costUsd: totalCostUsd }, modelCalls));
    for (const turn of turns) {
      const own = modelCalls.filter(({ turnId }) => turnId === turn.id);
      problems.push(...totalProblems(`turn ${turn.id}`, turn, own));
      const text = messages.find((message) => message.id === turn.userMessageId)?.content ?? '';
      callsByText.set(text, [...(callsByText.get(text) ?? []), ...own]);
    }
  }
  const requestsByText = groupBy(requests, ({ text }) => text);
  for (const text of new Set([...callsByText.keys(), ...requestsByText.keys()])) {
    problems.push(...requestProblems(text, callsByText.get(text) ?? [], requestsByText.get(text) ?? []));
  }
  return problems;
}
