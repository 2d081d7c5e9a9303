import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { FailpointName } from '../../src/failpoints.js';
import { chatClient } from '../support/client.js';
import * as documents from '../support/documents.js';
import { type Fleet, startFleet } from '../support/fleet.js';
import { sayAndFollow } from '../support/oracle/clients.js';
import { remainsOf } from '../support/oracle/remains.js';
import { lastUserText, type RecordedRequest } from '../support/provider.js';
import type { Replica } from '../support/replica.js';
import {
  callTools,
  gate,
  pause,
  reply,
  type Script,
  type ScriptedToolCall,
  text as scriptedText,
} from '../support/script.js';

let fleet: Fleet;
let first: Replica;
beforeAll(async () => {
  // The lease is so long that no server is taken for dead because the machine is busy.
  fleet = await startFleet({ count: 2, env: { TURN_LEASE_MS: '5000' } });
  [first] = fleet.replicas;
  fleet.provider.onRequest(answer);
}, 120_000);
beforeEach(() => fleet.mend());
afterAll(() => fleet.close());

const look = { id: 'look', name: 'look_up', arguments: { what: 'the weather' } };
const pay = { id: 'pay', name: 'pay', arguments: { what: 'the bill' } };
const ask = { id: 'ask', name: 'ask_user', arguments: { question: 'Which one?' } };
const known: Readonly<Record<string, Omit<ScriptedToolCall, 'index'>>> = { look, pay, ask };

/** "call look, pay" calls these tools, and is answered when their results are there. */
function answer(request: RecordedRequest): Script {
  const results = request.body.messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
  if (results.length > 0) return reply(`The results are: ${results.join(' / ')}`, { chunks: 5 });
  const names = lastUserText(request).match(/\b(look|pay|ask)\b/g) ?? [];
  const calls = names.flatMap((name) => known[name] ?? []);
  return calls.length > 0 ? callTools(calls) : reply('Nothing to call.');
}

/** Sends a message to the first server, which is to die of it, and goes on with the other one. */
async function sayToTheDoomed(text: string, onEvent = (_event: { readonly __typename: string }) => {}) {
  const id = await chatClient(first.url).createSession();
  const where = () => (first.isRunning ? first.url : fleet.where());
  await sayAndFollow({ ...fleet.follower(text, 'ws'), where, onEvent }, id, text);
  return id;
}

const contents = (run: Awaited<ReturnType<Fleet['expectClean']>>, id: string) =>
  run.sessions.find((session) => session.id === id)?.messages.map(({ role, content }) => `${role}: ${content}`);

const unknown = 'interrupted';

describe('a server that is killed right', () => {
  test.each<[FailpointName, string, string[], RegExp]>([
    ['after-step', 'call look, pay', ['look SUCCEEDED 1x', 'pay SUCCEEDED 1x'], /done: the weather .* done: the bill/],
    ['after-tool-effect', 'call look', ['look SUCCEEDED 2x'], /done: the weather/],
    ['after-tool-effect', 'call pay', ['pay INTERRUPTED 1x'], new RegExp(unknown, 'i')],
    ['after-tool-result', 'call look, pay', ['look SUCCEEDED 1x', 'pay SUCCEEDED 1x'], /the weather .* the bill/],
  ])('%s of "%s" leaves a turn that another one ends', async (name, calls, tools, result) => {
    const text = `killed ${name}: ${calls}`;
    await first.arm(name);
    const id = await sayToTheDoomed(text);
    expect(await first.exited).toMatchObject({ signal: 'SIGKILL' });
    await fleet.mend();
    const run = await fleet.expectClean();
    const plain = { status: 'COMPLETED', attempts: 2, epoch: 2, calls: ['SUCCEEDED', 'SUCCEEDED'], requests: 2 };
    expect(remainsOf(run, text)).toEqual({ ...plain, tools });
    expect(contents(run, id)?.at(-1)).toMatch(result);
  });

  test('after-question-asked leaves a question that can be answered elsewhere', async () => {
    const text = 'killed after-question-asked: call look, ask';
    await first.arm('after-question-asked');
    const id = await sayToTheDoomed(text, ({ __typename, ...event }) => {
      if (__typename !== 'InputRequested') return;
      const { id: requestId } = (event as unknown as { request: { id: string } }).request;
      void fleet.client().run(documents.answerQuestion, { input: { requestId, answer: 'the second' } });
    });
    expect(await first.exited).toMatchObject({ signal: 'SIGKILL' });
    await fleet.mend();
    const run = await fleet.expectClean();
    expect(remainsOf(run, text)).toMatchObject({
      status: 'COMPLETED',
      calls: ['SUCCEEDED', 'SUCCEEDED'],
      requests: 2,
      tools: ['look SUCCEEDED 1x', 'ask SUCCEEDED 0x'],
    });
    expect(contents(run, id)?.at(-1)).toContain('the second');
  });

  test('after-promote leaves a turn out of the queue that another one runs', async () => {
    const text = 'killed after-promote';
    const id = await chatClient(first.url).createSession();
    const middle = gate();
    fleet.provider.enqueue([scriptedText('begun'), pause(middle), reply(' and ended')]);
    const where = () => (first.isRunning ? first.url : fleet.where());
    const running = sayAndFollow({ ...fleet.follower('running', 'ws'), where }, id, 'before killed after-promote');
    await middle.reached;
    await first.arm('after-promote');
    const follower = { ...fleet.follower(text, 'sse'), where };
    const queued = sayAndFollow(follower, id, text, { whenBusy: 'ENQUEUE' });
    await expect
      .poll(
        () =>
          fleet
            .client()
            .session(id)
            .then(({ turnCount }) => turnCount),
        { timeout: 30_000 },
      )
      .toBe(2);
    middle.open();
    await Promise.all([running, queued]);
    expect(await first.exited).toMatchObject({ signal: 'SIGKILL' });
    await fleet.mend();
    const run = await fleet.expectClean();
    expect(remainsOf(run, text)).toMatchObject({ status: 'COMPLETED', attempts: 2, calls: ['SUCCEEDED'], requests: 1 });
  });
});
