import type { StoredMessage, StoredModelCall, StoredSession, StoredTurn } from './read-database.js';
import type { Run, SeenEvent } from './run.js';

/** `deltas` are pieces of one message; every other event is a type. */
type Piece = string | { readonly messageId: string; readonly step: number; readonly deltas: readonly string[] };

/** Events as a server numbers them, from behind `base` on. */
export function tell(turnId: string, base: number, ...pieces: readonly Piece[]): SeenEvent[] {
  const events: SeenEvent[] = [];
  let sequence = base;
  const add = (event: Omit<SeenEvent, 'turnId' | 'sequence' | 'cursor'>) => {
    sequence += event.delta?.length ?? 1;
    events.push({ ...event, turnId, sequence, cursor: `${turnId}.${sequence}` });
  };
  for (const piece of pieces) {
    if (typeof piece === 'string') add({ __typename: piece });
    else {
      const { messageId, step } = piece;
      for (const delta of piece.deltas) add({ __typename: 'TextDelta', messageId, step, delta });
    }
  }
  return events;
}

const turn = (fields: Partial<StoredTurn> & Pick<StoredTurn, 'id' | 'number' | 'userMessageId'>): StoredTurn => ({
  status: 'COMPLETED',
  errorCode: null,
  epoch: 1,
  attempts: 1,
  hasOwner: false,
  isFinished: true,
  inputTokens: 10,
  outputTokens: 5,
  costUsd: '0.000075000000',
  ...fields,
});

const message = (
  fields: Partial<StoredMessage> & Pick<StoredMessage, 'id' | 'turnId' | 'sequence'>,
): StoredMessage => ({
  role: 'ASSISTANT',
  status: 'COMPLETE',
  content: '',
  step: null,
  toolCallId: null,
  seeded: false,
  calls: [],
  ...fields,
});

const call = (fields: Partial<StoredModelCall>): StoredModelCall => ({
  turnId: null,
  status: 'SUCCEEDED',
  step: 1,
  attempt: 1,
  inputPrice: '2.50000000',
  cachedInputPrice: '1.25000000',
  outputPrice: '10.00000000',
  heldCostUsd: '0.000200000000',
  heldTokens: 50,
  inputTokens: 10,
  cachedInputTokens: 0,
  outputTokens: 5,
  estimated: false,
  costUsd: '0.000075000000',
  ...fields,
});

/**
 * One session with two turns, without a fault. The first is plain; the second calls two tools and was taken over in its
 * second step, whose first telling one watcher has seen.
 */
export function forgedRun(): Run {
  const hello = { messageId: 'm2', step: 1, deltas: ['Hello', ' there'] };
  const first = () => tell('t1', 0, 'TurnStarted', hello, 'StepCompleted', 'TurnCompleted');
  const lost = { messageId: 'm7', step: 2, deltas: ['It is w'] };
  const weather = { messageId: 'm7', step: 2, deltas: ['It is sun', 'ny.'] };
  const round = ['StepCompleted', 'ToolCallStarted', 'ToolCallStarted', 'ToolCallCompleted', 'ToolCallCompleted'];
  const again = () => tell('t2', 1_000_030, 'TurnStarted', ...round, weather, 'StepCompleted', 'TurnCompleted');
  const before = () => tell('t2', 14, 'TurnStarted', ...round, lost);
  const session: StoredSession = {
    id: 's1',
    activeTurnId: null,
    queuedTurns: 0,
    turnCount: 2,
    lastMessageSequence: 7,
    inputTokens: 42,
    outputTokens: 23,
    totalCostUsd: '0.000330000000',
    budget: {
      id: 'b1',
      maxCostUsd: '1.000000000000',
      maxTokens: 1000,
      spentCostUsd: '0.000330000000',
      spentTokens: 65,
      heldCostUsd: '0.000000000000',
      heldTokens: 0,
      ledgerCostUsd: '0.000330000000',
      ledgerTokens: 65,
    },
    turns: [
      turn({ id: 't1', number: 1, userMessageId: 'm1' }),
      turn({
        id: 't2',
        number: 2,
        userMessageId: 'm3',
        epoch: 2,
        attempts: 2,
        inputTokens: 32,
        outputTokens: 18,
        costUsd: '0.000255000000',
      }),
    ],
    messages: [
      message({ id: 'm1', turnId: 't1', sequence: 1, role: 'USER', content: 'hi' }),
      message({ id: 'm2', turnId: 't1', sequence: 2, content: 'Hello there', step: 1 }),
      message({ id: 'm3', turnId: 't2', sequence: 3, role: 'USER', content: 'weather?' }),
      message({ id: 'm4', turnId: 't2', sequence: 4, step: 1, calls: ['c1', 'c2'] }),
      message({ id: 'm5', turnId: 't2', sequence: 5, role: 'TOOL', content: 'sunny', toolCallId: 'c1' }),
      message({ id: 'm6', turnId: 't2', sequence: 6, role: 'TOOL', content: '20', toolCallId: 'c2' }),
      message({ id: 'm7', turnId: 't2', sequence: 7, content: 'It is sunny.', step: 2 }),
    ],
    toolCalls: [
      { id: 'r1', turnId: 't2', callId: 'c1', status: 'SUCCEEDED' },
      { id: 'r2', turnId: 't2', callId: 'c2', status: 'SUCCEEDED' },
    ],
    modelCalls: [
      call({ turnId: 't1' }),
      call({ turnId: 't2' }),
      call({
        turnId: 't2',
        step: 2,
        status: 'FAILED',
        estimated: true,
        inputTokens: 12,
        outputTokens: 8,
        costUsd: '0.000110000000',
      }),
      call({ turnId: 't2', step: 2, attempt: 2, costUsd: '0.000070000000', inputTokens: 10, cachedInputTokens: 4 }),
    ],
  };
  return {
    sessions: [session],
    sent: [
      { sessionId: 's1', text: 'hi', sentAt: 1, acknowledgedAt: 2, turnId: 't1' },
      { sessionId: 's1', text: 'weather?', sentAt: 3, acknowledgedAt: 4, turnId: 't2' },
    ],
    watches: [
      { name: 'whole', events: first(), byCursor: true, isComplete: true },
      // It came in the middle of a delta, and left before the end.
      {
        name: 'late',
        events: [{ ...(first()[2] as SeenEvent), delta: 'here' }],
        byCursor: true,
        isComplete: false,
      },
      { name: 'session', events: [...first(), ...before(), ...again()], byCursor: true, isComplete: true },
      // It was told the beginning twice, as a client without a cursor is.
      { name: 'replayed', events: [...again().slice(0, 7), ...again()], byCursor: false, isComplete: true },
      // It left before the turn was told anew.
      { name: 'left', events: before(), byCursor: true, isComplete: false },
    ],
    requests: [
      { text: 'hi', usage: { prompt: 10, completion: 5 }, said: 'Hello there' },
      { text: 'weather?', usage: { prompt: 10, completion: 5 }, said: '' },
      { text: 'weather?', usage: null, said: 'It is w' },
      { text: 'weather?', usage: { prompt: 10, completion: 5 }, said: 'It is sunny.' },
    ],
    replays: new Map([
      ['t1', first()],
      ['t2', again()],
    ]),
    effects: [
      { callId: 'r1', idempotent: true, runs: 2 },
      { callId: 'r2', idempotent: false, runs: 1 },
    ],
  };
}
