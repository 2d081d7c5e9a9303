import type { Principal } from '../../auth/principal.js';
import { isUniqueViolation } from '../../db/database-errors.js';
import { type AcceptedTurn, acceptTurn, type TurnCandidate, type TurnToAccept } from '../../db/queries/accept-turn.js';
import { explainRefusal, type RefusalFacts } from '../../db/queries/explain-refusal.js';
import { canonicalJson, sha256 } from '../../digest.js';
import { ChatError } from '../../errors.js';
import { readImages } from '../images/read-images.js';
import type { NewMessage, WhenBusy } from '../service.js';
import { checkClientId, checkText } from '../text.js';
import type { TurnDependencies } from './dependencies.js';
import { executeTurn } from './execute-turn.js';
import type { LiveTurn } from './live-turns.js';
import { refusalError } from './refusal.js';
import { stopTurn } from './stop-turn.js';

/**
 * Either a new turn, which runs here, or one to follow: it waits in the queue, or the same key has started it before,
 * wherever it runs or ran.
 */
export type StartedTurn = { readonly turn: LiveTurn } | { readonly turnId: string };

/** Answers null when it was refused, for whatever reason. */
type AcceptingStatement = () => Promise<AcceptedTurn | 'queued' | null>;

/**
 * How often an accepting statement is tried when the turn that stood in its way has just ended. Whoever interrupts may
 * find that others were faster again and again.
 */
const mostAttempts: Readonly<Record<WhenBusy, number>> = { REJECT: 3, ENQUEUE: 3, INTERRUPT: 20 };
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * What makes two calls the same call. Stock WebSocket clients re-send a subscription under its old operation id after
 * every interruption, so that id serves where the client gave none, but only if it is a UUID: ids such as "1" are used
 * again on every socket.
 */
export function idempotencyKey({
  clientMessageId,
  operationId,
}: Pick<NewMessage, 'clientMessageId' | 'operationId'>): string | null {
  if (clientMessageId != null) return `client:${clientMessageId}`;
  return operationId != null && uuid.test(operationId) ? `operation:${operationId}` : null;
}

type UnreadMessage = Omit<TurnToAccept, 'images'>;

function readMessage(deps: TurnDependencies, principal: Principal, input: NewMessage): UnreadMessage {
  checkText('message', input.message, deps.settings.maxMessageBytes);
  if (input.clientMessageId != null) checkClientId('clientMessageId', input.clientMessageId);
  const images = input.images ?? [];
  const inputDigest = sha256(canonicalJson({ message: input.message, images }));
  return {
    sessionId: input.sessionId,
    ...principal,
    turnId: deps.newId(),
    messageId: deps.newId(),
    content: input.message,
    clientMessageId: input.clientMessageId ?? null,
    idempotencyKey: idempotencyKey(input),
    inputDigest,
    models: deps.catalog.list().map((model) => model.id),
    leaseOwner: deps.processId,
    leaseMs: deps.settings.leaseMs,
    startedAt: deps.now(),
    traceId: deps.newId(),
    trace: { messageDigest: inputDigest.slice(0, 16), messageLength: input.message.length, images: images.length },
    maxQueuedTurns: input.whenBusy === 'ENQUEUE' ? deps.settings.maxQueuedTurns : 0,
  };
}

/** The message with its images, or the turn that the same call has started before, also when a file is gone by now. */
async function withImages(
  deps: TurnDependencies,
  message: UnreadMessage,
  images: readonly string[],
): Promise<TurnToAccept | { readonly turnId: string }> {
  try {
    return { ...message, images: await readImages(images, { newId: deps.newId, imageDir: deps.settings.imageDir }) };
  } catch (error) {
    if (message.idempotencyKey === null || !(error instanceof ChatError)) throw error;
    const facts = await explainRefusal(deps.database.pool, message, message.idempotencyKey);
    if (facts?.prior?.inputDigest !== message.inputDigest) throw error;
    return { turnId: facts.prior.turnId };
  }
}

async function accept(statement: AcceptingStatement): Promise<AcceptedTurn | 'queued' | null> {
  try {
    return await statement();
  } catch (error) {
    // The same key won at the same instant; what it has started is found like any earlier turn.
    if (isUniqueViolation(error)) return null;
    throw error;
  }
}

/** The turn, if the session takes it now. */
async function tryToStart(
  deps: TurnDependencies,
  { sessionId, turnId }: TurnCandidate,
  statement: AcceptingStatement,
): Promise<StartedTurn | null> {
  deps.live.expect(turnId);
  try {
    const accepted = await accept(statement);
    if (accepted === null) return null;
    if (accepted === 'queued') {
      deps.feed?.signal({ kind: 'session', sessionId });
      return { turnId };
    }
    await deps.failpoint('after-accept');
    return { turn: executeTurn(deps, accepted) };
  } finally {
    deps.live.unexpect(turnId);
  }
}

/** The turn that the key of this call has started before. */
function findPrior(facts: RefusalFacts | null, candidate: TurnCandidate): StartedTurn | null {
  if (!facts?.prior) return null;
  if (facts.prior.inputDigest !== candidate.inputDigest) throw new ChatError('IDEMPOTENCY_KEY_REUSED');
  return { turnId: facts.prior.turnId };
}

/**
 * Runs a turn here once its statement has accepted it, or finds the one that the same key has started before. With
 * INTERRUPT everything that is active in the session is stopped for it; of two that interrupt at once the later one does
 * so to the earlier.
 *
 * @param statement accepts it; tried again when what stood in its way is gone.
 * @param explain finds further reasons for a refusal, beside those that every turn may meet.
 * @throws ChatError for every refusal.
 */
export async function beginTurn(
  deps: TurnDependencies,
  candidate: TurnCandidate,
  statement: AcceptingStatement,
  {
    whenBusy = 'REJECT',
    explain = async () => null,
  }: { readonly whenBusy?: WhenBusy; readonly explain?: () => Promise<ChatError | null> } = {},
): Promise<StartedTurn> {
  const { sessionId, owner, tenant, models } = candidate;
  const { maxQueuedTurns } = deps.settings;
  for (let attempt = 1; ; attempt += 1) {
    if (deps.isClosing()) throw new ChatError('UNAVAILABLE', 'The server is stopping. Try again in a moment.');
    const started = await tryToStart(deps, candidate, statement);
    if (started) return started;
    const facts = await explainRefusal(deps.database.pool, candidate, candidate.idempotencyKey);
    const prior = findPrior(facts, candidate);
    if (prior) return prior;
    const refusal = refusalError(facts, { whenBusy, models, maxQueuedTurns }) ?? (await explain());
    if (refusal) throw refusal;
    if (attempt === mostAttempts[whenBusy]) throw new ChatError('TURN_IN_PROGRESS');
    if (whenBusy === 'INTERRUPT') await stopTurn(deps, { owner, tenant }, sessionId);
  }
}

/**
 * Accepts a message as a new turn and runs it here, lets it wait in the queue, or finds the turn that the same call has
 * started before.
 *
 * @throws ChatError for every refusal; a refusal stores nothing and does not use up the client's id.
 */
export async function startTurn(deps: TurnDependencies, principal: Principal, input: NewMessage): Promise<StartedTurn> {
  const message = await withImages(deps, readMessage(deps, principal, input), input.images ?? []);
  if (!('images' in message)) return message;
  const whenBusy = input.whenBusy ?? 'REJECT';
  return beginTurn(deps, message, () => acceptTurn(deps.database.pool, message), { whenBusy });
}
