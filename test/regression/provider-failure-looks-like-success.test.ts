import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openEvents, openTurn, type Transport, textOf } from '../support/client.js';
import { turnEvents } from '../support/documents.js';
import * as script from '../support/script.js';

// Field reports A10, A11, A12 and A75: a turn that fails ends without a closing event, its failure is not kept, a silent
// provider hangs the chat, and the provider's words with keys and hosts reach the user.
let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp({ MODEL_IDLE_TIMEOUT_MS: '800', MODEL_TOTAL_TIMEOUT_MS: '2400', MODEL_MAX_RETRIES: '0' });
  client = chatClient(app.url);
});
afterAll(() => app.close());

const secret = 'sk-live-FAKEKEYFAKEKEYFAKEKEY';
const leaky = { error: { message: `Incorrect key ${secret} for db.internal.example`, type: 'x', code: null } };
const partial = script.text('The first words', { chunks: 3 });

/** A reset takes along what its peer has not read yet. The server is in this process and reads in its turns of the loop. */
const untilRead: script.Script[number] = {
  do: 'pause',
  get until() {
    return (async () => {
      for (let turn = 0; turn < 50; turn += 1) await setImmediate();
    })();
  },
};

/** What the provider does, the code that the client must see, and whether some text was received before. */
const faults: readonly [string, script.Script, string, boolean][] = [
  ['401', [script.httpError(401, leaky)], 'PROVIDER_AUTH', false],
  ['429', [script.httpError(429, leaky)], 'PROVIDER_RATE_LIMITED', false],
  ['500', [script.httpError(500, leaky)], 'PROVIDER_UNAVAILABLE', false],
  ['400', [script.httpError(400, leaky)], 'PROVIDER_REFUSED', false],
  ['HTML with status 200', [script.html200(`<h1>${secret}</h1>`)], 'PROVIDER_BAD_RESPONSE', false],
  ['a JSON error with status 200', [script.json200Error(secret)], 'PROVIDER_BAD_RESPONSE', false],
  ['an empty body', [script.emptyBody()], 'PROVIDER_BAD_RESPONSE', false],
  ['a stream cut by a clean end', [partial, script.cutFin], 'PROVIDER_BAD_RESPONSE', true],
  ['a stream cut by a reset', [partial, untilRead, script.reset], 'PROVIDER_BAD_RESPONSE', true],
  ['silence from the start', [script.silence()], 'PROVIDER_TIMEOUT', false],
  ['silence after some text', [partial, script.silence()], 'PROVIDER_TIMEOUT', true],
  ['a reply without any text', [script.finish('stop')], 'EMPTY_RESPONSE', false],
  ['a call of a tool that was never offered', [script.finish('tool_calls')], 'PROVIDER_BAD_RESPONSE', false],
];

describe.each(faults)('when the provider answers with %s', (_what, fault, code, hasText) => {
  beforeEach(() => app.provider.enqueue(fault));

  it.each<Transport>(['ws', 'sse'])('over %s the turn ends with one typed event, which is kept', async (transport) => {
    const id = await client.createSession();
    const events = await openTurn(app.url, transport, id, 'hello').rest();
    const ends = events.filter(({ __typename }) => /^Turn(Completed|Failed|Stopped)$/.test(__typename));
    expect(ends).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ __typename: 'TurnFailed', error: { code } });
    expect(textOf(events)).toBe(hasText ? 'The first words' : '');
    const { turnId } = events[0];
    const replayed = await openEvents(app.url, transport, turnEvents, { turnId }).rest();
    expect(replayed.at(-1)).toEqual(events.at(-1));
    expect(textOf(replayed)).toBe(textOf(events));
    const session = await client.session(id);
    expect(session.turns.nodes[0]).toMatchObject({ status: 'FAILED', finishReason: 'ERROR', error: { code } });
    expect(session.history.slice(1).map((m: { status: string; content: string }) => [m.status, m.content])).toEqual(
      hasText ? [['PARTIAL', 'The first words']] : [],
    );
    expect(session.activeTurn).toBeNull();
  });

  it('send gives one error with code, turn and nothing of the provider, and the next send works', async () => {
    const id = await client.createSession();
    const failed = await client.trySend(id, 'hello');
    expect(failed.data).toBeNull();
    expect(failed.errors).toHaveLength(1);
    const session = await client.session(id);
    expect(failed.errors?.[0]?.extensions).toMatchObject({
      code,
      turnId: session.turns.nodes[0].id,
      retryable: session.turns.nodes[0].error.retryable,
    });
    const next = await client.send(id, 'again');
    expect(next).toMatchObject({ content: 'echo: again', session: { turnCount: 2 } });
    expect(app.provider.violations).toEqual([]);
    const seen = JSON.stringify([failed, await client.session(id), next, app.logLines]);
    for (const word of [secret, 'db.internal', new URL(app.provider.url).host, 'sk-canary', 'node_modules']) {
      expect(seen).not.toContain(word);
    }
  });
});

describe('when the provider cannot be reached', () => {
  it('says so without naming it', async () => {
    const id = await client.createSession();
    await app.provider.close();
    const failed = await client.trySend(id, 'hello');
    expect(failed.errors?.[0]?.extensions?.code).toBe('PROVIDER_UNAVAILABLE');
    expect(JSON.stringify([failed, await client.session(id), app.logLines])).not.toContain(
      new URL(app.provider.url).host,
    );
  });
});
