import type { Principal } from '../../auth/principal.js';
import { loadOwnedTurn } from '../../db/queries/owned-turn.js';
import {
  findExpiredRequests,
  findRequest,
  type InputKind,
  lockWaitingTurn,
  type ResolvedRequest,
  requestStatus,
  resolveRequest,
} from '../../db/queries/resolve-input.js';
import { ownWaitingTurn } from '../../db/queries/waiting-turn.js';
import { inTransaction } from '../../db/transaction.js';
import { badInput, ChatError } from '../../errors.js';
import type { ApprovalDecision, ClientToolResult, QuestionAnswer } from '../service.js';
import { checkLength, checkStorable, checkText } from '../text.js';
import type { TurnDependencies } from './dependencies.js';
import { resumeTurn } from './execute-turn.js';

/** Expired requests that are closed in one round. */
const sweepSize = 50;
const longestReasonBytes = 4_000;

const ownerOf = ({ processId, settings }: TurnDependencies) => ({ leaseOwner: processId, leaseMs: settings.leaseMs });

/** Runs a turn on that was just taken into this process's hands. */
async function runOn(deps: TurnDependencies, turnId: string, epoch: number): Promise<void> {
  try {
    const owned = await loadOwnedTurn(deps.database.pool, turnId, epoch);
    if (owned) resumeTurn(deps, owned);
  } catch (error) {
    deps.log.warn({ turnId, err: error }, 'answered turn could not be run on: it goes on when its lease has run out');
  }
}

/** Closes a request, with a value if that is in time. Null when it was closed before. */
async function resolve(
  deps: TurnDependencies,
  turnId: string,
  requestId: string,
  value: unknown,
): Promise<ResolvedRequest | null> {
  deps.live.expect(turnId);
  try {
    const resolved = await inTransaction(deps.database.pool, async (db) => {
      if (!(await lockWaitingTurn(db, turnId))) return null;
      return resolveRequest(db, ownerOf(deps), { requestId, answer: value, traceId: deps.newId() });
    });
    if (resolved?.epoch != null) await runOn(deps, turnId, resolved.epoch);
    return resolved;
  } finally {
    deps.live.unexpect(turnId);
  }
}

/** What a request of each kind is called outside. */
const typeNames: Readonly<Record<InputKind, string>> = {
  QUESTION: 'Question',
  APPROVAL: 'ToolApproval',
  CLIENT_TOOL: 'ClientToolCall',
};

/**
 * Answers a request and runs the turn on once it waits for nothing else. Resolves as soon as the turn goes on.
 *
 * @param wanted the kind that the answer belongs to.
 * @throws ChatError NOT_FOUND, INPUT_ALREADY_RESOLVED, INPUT_EXPIRED, BAD_USER_INPUT, UNAVAILABLE.
 */
async function answer(
  deps: TurnDependencies,
  principal: Principal,
  requestId: string,
  wanted: InputKind,
  value: unknown,
): Promise<{ turnId: string }> {
  if (deps.isClosing()) throw new ChatError('UNAVAILABLE', 'The server is stopping. Try again in a moment.');
  const request = await findRequest(deps.database.pool, requestId, principal);
  if (!request) throw new ChatError('NOT_FOUND');
  const { turnId, kind } = request;
  if (kind !== wanted) {
    throw badInput(`requestId must be the id of a ${typeNames[wanted]}, but it is one of a ${typeNames[kind]}.`);
  }
  const resolved = await resolve(deps, turnId, requestId, value);
  const status = resolved?.status ?? (await requestStatus(deps.database.pool, requestId));
  if (status === 'EXPIRED') throw new ChatError('INPUT_EXPIRED');
  if (!resolved) throw new ChatError('INPUT_ALREADY_RESOLVED');
  return { turnId };
}

/** @throws ChatError as said at `answer`. */
export async function answerQuestion(deps: TurnDependencies, principal: Principal, input: QuestionAnswer) {
  checkText('answer', input.answer, deps.settings.maxMessageBytes);
  return answer(deps, principal, input.requestId, 'QUESTION', input.answer);
}

/** @throws ChatError as said at `answer`. */
export async function decideApproval(deps: TurnDependencies, principal: Principal, input: ApprovalDecision) {
  const reason = input.reason == null || input.reason.trim() === '' ? null : input.reason.trim();
  if (reason !== null) checkText('reason', reason, longestReasonBytes);
  return answer(deps, principal, input.requestId, 'APPROVAL', { approved: input.approved, reason });
}

/** @throws ChatError as said at `answer`. */
export async function submitToolResult(deps: TurnDependencies, principal: Principal, input: ClientToolResult) {
  checkLength('result', input.result, deps.settings.maxMessageBytes);
  checkStorable('result', input.result);
  const value = { result: input.result, isError: input.isError ?? false };
  return answer(deps, principal, input.requestId, 'CLIENT_TOOL', value);
}

/** Closes requests that nobody has answered in time; their turns go on without the answers. */
export async function expireInputs(deps: TurnDependencies): Promise<void> {
  if (deps.isClosing()) return;
  for (const { turnId, requestId } of await findExpiredRequests(deps.database.pool, sweepSize)) {
    await resolve(deps, turnId, requestId, null).catch((error) => {
      deps.log.warn({ turnId, err: error }, 'a request whose time is over could not be closed yet');
    });
  }
}

/** Runs a turn to its end that waits for its user and is to be stopped. Does nothing when it does not wait. */
export async function stopWaitingTurn(deps: TurnDependencies, turnId: string): Promise<void> {
  deps.live.expect(turnId);
  try {
    const epoch = await ownWaitingTurn(deps.database.pool, ownerOf(deps), turnId);
    if (epoch !== null) await runOn(deps, turnId, epoch);
  } finally {
    deps.live.unexpect(turnId);
  }
}
