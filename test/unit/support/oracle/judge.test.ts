import { describe, expect, test } from 'vitest';
import { forgedRun, tell } from '../../../support/oracle/forged-run.js';
import { judge } from '../../../support/oracle/judge.js';

// biome-ignore lint/suspicious/noExplicitAny: these tests damage what is read-only.
type Damage = (run: any) => void;

const session =
  (damage: Damage): Damage =>
  (run) =>
    damage(run.sessions[0]);
const watch =
  (name: string, damage: Damage): Damage =>
  (run) =>
    damage(run.watches.find((one: { name: string }) => one.name === name));

test('a run without a fault has none', () => {
  expect(judge(forgedRun())).toEqual([]);
});

test('a session that the run did not use may have any messages', () => {
  const run = forgedRun();
  expect(judge({ ...run, sent: run.sent.slice(0, 0) })).toEqual([]);
});

test('the same sum in another spelling is no fault', () => {
  const run = structuredClone(forgedRun());
  session((one) => {
    one.totalCostUsd = '0.00033';
  })(run);
  expect(judge(run)).toEqual([]);
});

const faults: Readonly<Record<string, readonly (readonly [what: string, damage: Damage, message: RegExp])[]>> = {
  I1: [
    [
      'an acknowledged message is gone',
      session(({ messages }) => messages.splice(0, 1)),
      /"hi" was acknowledged and is gone/,
    ],
    [
      'a message is stored twice',
      session(({ messages }) => messages.push({ ...messages[0], id: 'm8', sequence: 8 })),
      /"hi" is stored 2 times/,
    ],
    [
      'a message that was never acknowledged is stored twice',
      (run) => {
        run.sent[0].acknowledgedAt = null;
        run.sessions[0].messages.push({ ...run.sessions[0].messages[0], id: 'm8', sequence: 8 });
      },
      /"hi" is stored 2 times/,
    ],
    [
      'messages change places',
      session(({ messages }) => {
        messages[0].content = 'weather?';
        messages[2].content = 'hi';
      }),
      /"weather\?" was sent after "hi" was acknowledged, and stands before it/,
    ],
    ['a client was told another turn', (run) => (run.sent[0].turnId = 't9'), /was told as turn t9/],
    [
      'a message comes from nobody',
      session(({ messages }) => messages.push({ ...messages[0], id: 'm8', content: 'boo', sequence: 8 })),
      /nobody sent "boo"/,
    ],
    ['a session is gone', (run) => (run.sessions = []), /s1 is gone, with "hi"/],
  ],
  I2: [
    ['a turn still runs', session(({ turns }) => (turns[1].status = 'RUNNING')), /turn t2 is still RUNNING/],
    ['a turn still has an owner', session(({ turns }) => (turns[1].hasOwner = true)), /still has an owner/],
    ['a session is still busy', session((one) => (one.activeTurnId = 't2')), /still has the active turn t2/],
    ['a queue is not empty', session((one) => (one.queuedTurns = 1)), /still has 1 queued/],
    [
      'a subscription is over before its turn is',
      watch('whole', ({ events }) => events.pop()),
      /watch whole: the subscription is over, turn t1 is not/,
    ],
    [
      'a client was told another end',
      watch('whole', ({ events }) => (events[4] = { ...events[4], __typename: 'TurnFailed' })),
      /was told as TurnFailed and is COMPLETED/,
    ],
    [
      'a turn ends twice',
      watch('whole', ({ events }) => events.push({ ...events[4], sequence: 15 })),
      /has ended 2 times/,
    ],
  ],
  I3: [
    [
      'an event is left out',
      watch('whole', ({ events }) => events.splice(1, 1)),
      /TextDelta 12 leaves out what lies after 1/,
    ],
    [
      'an event comes twice to a client with a cursor',
      watch('whole', ({ events }) => events.splice(2, 0, events[1])),
      /TextDelta 6 comes after 6/,
    ],
    [
      'something comes after the end',
      watch('whole', ({ events }) => events.push({ ...events[3], sequence: 15 })),
      /StepCompleted 15 comes after the end/,
    ],
    [
      'two turns mix',
      watch('session', (one) => (one.events = one.events.toSpliced(4, 1))),
      /turn t2 begins before t1 has ended/,
    ],
    [
      'a turn is no further than the one before it',
      (run) => {
        run.replays.set('t2', tell('t2', 3, 'TurnStarted', 'TurnCompleted'));
      },
      /turn t2 begins at 4, not behind 14/,
    ],
    ['a turn cannot be told again', (run) => run.replays.delete('t1'), /turn t1, COMPLETED, was not told again/],
    [
      'a replay has a hole',
      (run) => run.replays.set('t1', run.replays.get('t1').toSpliced(1, 1)),
      /replay: turn t1: TextDelta 12 leaves out/,
    ],
  ],
  I4: [
    [
      'a client was told another text',
      watch('left', (one) => {
        one.events = tell('t2', 1_000_030, 'TurnStarted', ...Array(5).fill('StepCompleted'));
      }),
      /saw StepCompleted at 1000033, stored is ToolCallStarted at 1000033/,
    ],
    [
      'a client that came late was told another text',
      watch('late', ({ events }) => (events[0] = { ...events[0], delta: 'hare' })),
      /saw .*"hare", stored is .*"here"/,
    ],
    [
      'a delta belongs to another message',
      watch('whole', ({ events }) => (events[2] = { ...events[2], messageId: 'm9' })),
      /watch whole: turn t1: saw/,
    ],
  ],
  I5: [
    [
      'the stored message is shorter',
      session(({ messages }) => (messages[1].content = 'Hello')),
      /watch whole: .*message m2 is "Hello" and was told as "Hello there"/,
    ],
    [
      'the text of a lost owner is stored',
      session(({ messages }) => (messages[6].content = 'It is w')),
      /replay: .*message m7 is "It is w"/,
    ],
    [
      'a message was told and is not stored',
      session(({ messages }) => messages.splice(1, 1)),
      /message m2, "Hello there", is not stored/,
    ],
  ],
  I6: [
    [
      'a call has no result',
      session(({ messages }) => messages.splice(5, 1)),
      /call c2 has no result before message m7/,
    ],
    [
      'a call has two results',
      session(({ messages }) => messages.splice(5, 0, { ...messages[4], id: 'm8' })),
      /message m8 answers no open call: c1/,
    ],
    ['a result lacks its call', session(({ messages }) => (messages[3].calls = ['c1'])), /answers no open call: c2/],
    [
      'a call is at the end without a result',
      session(({ messages }) => messages.splice(5, 2)),
      /call c2 has no result$/,
    ],
    ['a call is still open', session(({ toolCalls }) => (toolCalls[0].status = 'RUNNING')), /call c1 is still RUNNING/],
    [
      'a tool ran twice that must not',
      (run) => (run.effects[1].runs = 2),
      /call r2 must not run twice and ran 2 times/,
    ],
    [
      'a tool ran for no call',
      (run) => run.effects.push({ callId: 'c3', idempotent: true, runs: 1 }),
      /c3, which is not stored/,
    ],
  ],
  I7: [
    ['a row is pending', session(({ modelCalls }) => (modelCalls[0].status = 'PENDING')), /step 1.* is still PENDING/],
    [
      'more is estimated than was reserved',
      session(({ modelCalls }) => Object.assign(modelCalls[0], { estimated: true, heldTokens: 14 })),
      /step 1.* is estimated at 15 tokens, and 14 were reserved/,
    ],
    [
      'a budget is overspent by calls that kept to what they had reserved',
      session(({ budget }) => (budget.maxTokens = 64)),
      /budget b1 has spent 65 of 64 tokens/,
    ],
    [
      'a row is not what its tokens cost',
      session(({ modelCalls }) => (modelCalls[0].costUsd = '0.000075000001')),
      /costs 0.000075000001, not 0.000075000000/,
    ],
    ['a session has other totals', session((one) => (one.inputTokens = 32)), /s1 has 32 input tokens, its ledger 42/],
    [
      'a session has lost money',
      session((one) => (one.totalCostUsd = '0.0003')),
      /s1 has cost 0.0003, its ledger 0.00033/,
    ],
    ['a turn has other totals', session(({ turns }) => (turns[0].outputTokens = 6)), /turn t1 has 6 output tokens/],
    [
      'a budget has other totals',
      session(({ budget }) => (budget.spentTokens = 64)),
      /budget b1 has spent 64 tokens, its ledger 65/,
    ],
    ['a budget holds money', session(({ budget }) => (budget.heldCostUsd = '0.1')), /budget b1 still holds money/],
    [
      'the provider was asked more often than is booked',
      (run) => run.requests.push(run.requests[0]),
      /"hi": the provider was asked 2 times, the ledger has 1 rows/,
    ],
    [
      'the provider was asked what nobody has sent',
      (run) => run.requests.push({ ...run.requests[0], text: 'boo' }),
      /"boo": the provider was asked 1 times, the ledger has 0 rows/,
    ],
    [
      'other figures are booked than the provider reported',
      (run) => (run.requests[0].usage = { prompt: 10, completion: 6 }),
      /"hi": 10 and 5 tokens is booked for step 1, which the provider did not report/,
    ],
    [
      'an estimate is booked where the provider has reported',
      session(({ modelCalls }) => (modelCalls[0].estimated = true)),
      /an estimate is booked for step 1/,
    ],
  ],
  I8: [
    [
      'two turns run at once',
      session(({ turns }) => {
        turns[0].status = 'RUNNING';
        turns[1].status = 'AWAITING_INPUT';
      }),
      /2 turns run at once/,
    ],
    ['there are more attempts than owners', session(({ turns }) => (turns[0].attempts = 2)), /2 attempts in 1 epochs/],
    [
      'a turn has run without an owner',
      session(({ turns }) => {
        turns[0].epoch = 0;
        turns[0].attempts = 0;
      }),
      /turn t1 ran without an owner/,
    ],
    [
      'two owners have written one step',
      session(({ messages, ...one }) => {
        messages.push({ ...messages[6], id: 'm8', sequence: 8 });
        one.lastMessageSequence = 8;
      }),
      /two owners have written a message of turn t2, step 2/,
    ],
    ['a message is not finished', session(({ messages }) => (messages[1].status = 'STREAMING')), /still being written/],
    [
      'two calls of one step have succeeded',
      session(({ modelCalls }) => {
        modelCalls[2].status = 'SUCCEEDED';
      }),
      /two calls of one step have succeeded: t2, step 2/,
    ],
    ['turns have a hole', session(({ turns }) => (turns[1].number = 3)), /2 turns are numbered 1, 3/],
    ['messages have a hole', session(({ messages }) => (messages[6].sequence = 8)), /7 messages stand at .* 6, 8/],
    ['a counter is wrong', session((one) => (one.turnCount = 3)), /3 turns are numbered 1, 2/],
  ],
};

describe.each(Object.entries(faults))('%s is violated when', (rule, cases) => {
  test.each(cases)('%s', (_what, damage, message) => {
    const run = structuredClone(forgedRun());
    damage(run);
    const problems = judge(run).filter((problem) => problem.startsWith(`${rule}: `));
    expect(problems.join('\n')).toMatch(message);
  });
});
