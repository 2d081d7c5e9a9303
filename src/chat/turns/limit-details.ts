import type { ErrorDetails } from '../../errors.js';
import { mayComeFree, type ReachedLimit } from '../../events/reached-limit.js';

const whose: Readonly<Record<ReachedLimit['scope'], string>> = {
  SESSION: 'The budget of this session',
  OWNER: 'Your budget on this server',
  TENANT: 'The budget of your tenant on this server',
};

/** What a limit that stands against a call tells a person: what there is of it, and what can be done. */
export function limitSentence(reached: ReachedLimit): string {
  const { scope, kind, limit, spent, held, needed } = reached;
  const unit = kind === 'COST' ? 'USD' : 'tokens';
  const figures = `${spent} of ${limit} ${unit} are spent${held > 0 ? ` and ${held} reserved by calls under way` : ''}`;
  const raise = scope === 'SESSION' ? 'raise it with updateChatSession' : 'ask the operator of this server to raise it';
  if (mayComeFree(reached)) return `${whose[scope]} is reserved: ${figures}. Wait for those calls, or ${raise}.`;
  if (spent + held >= limit) return `${whose[scope]} is used up: ${figures}. To go on, ${raise}.`;
  const need = needed === null ? '' : `, and this call needs at least ${needed}`;
  return `${whose[scope]} is not enough: ${figures}${need}. To go on, ${raise}.`;
}

/** The same for a program. */
export const limitDetails = (reached: ReachedLimit): ErrorDetails => ({
  retryable: mayComeFree(reached),
  limitScope: reached.scope,
  limitKind: reached.kind,
  limit: reached.limit,
  spent: reached.spent,
  held: reached.held,
  ...(reached.needed !== null && { needed: reached.needed }),
});
