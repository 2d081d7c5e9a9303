import { tokensPerReply } from '../../model/tokens.js';
import { assemble } from './assemble.js';
import { Estimate, piecesTokens } from './estimate.js';
import type { History } from './history.js';
import { beginPlan, type FittedPlan } from './planned.js';
import { shorten } from './shorten.js';
import type { TokenCounts } from './token-counts.js';

/**
 * Plans a prompt that takes at most `room` tokens, the system prompt and the tools not counted. It is planned with sums
 * of parts, and what comes out is counted as a whole before it is taken.
 *
 * @returns null when not even the message of the user fits together with the last step of its turn.
 */
export function planPrompt(history: History, room: number, counts: TokenCounts): FittedPlan | null {
  const plan = beginPlan(history);
  const tryToFit = (): FittedPlan | null => {
    const pieces = assemble(plan, history.omitted);
    const tokens = tokensPerReply + piecesTokens(counts, pieces);
    return tokens <= room ? { plan, messages: pieces.map(({ message }) => message), tokens } : null;
  };
  const whole = tryToFit();
  if (whole) return whole;
  const estimate = new Estimate(counts, plan);
  for (const _ of shorten(plan, estimate, room)) {
    if (estimate.total > room) continue;
    const fitted = tryToFit();
    if (fitted) return fitted;
  }
  return null;
}
