import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RawSocket, rawSocket } from '../clients/ws.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient } from '../support/client.js';
import * as documents from '../support/documents.js';
import * as script from '../support/script.js';

// Field report A64: an error in one subscription closes the whole socket, and with it every other subscription on it.
let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp({ MODEL_MAX_RETRIES: '0' });
  client = chatClient(app.url);
});
afterAll(() => app.close());

const unknown = (type: string) => Buffer.from(`${type}:01989f3e-0000-7000-8000-0123456789ab`).toString('base64');

/** A socket with a subscription `good` that waits in the middle of its turn. */
async function socketWithGoodTurn() {
  const socket = await rawSocket(`${app.url}/graphql`);
  await socket.init();
  const sessionId = await client.createSession();
  const gate = script.gate();
  app.provider.enqueue([script.text('I go '), script.pause(gate), script.text('on'), script.finish('stop')]);
  socket.subscribe('good', documents.stream, { input: { sessionId, message: 'stay' } });
  await gate.reached;
  const { turnId } = (await socket.receiveFor('good'))?.payload.data.stream ?? {};
  let text = '';
  while (text !== 'I go ') text += (await socket.receiveFor('good'))?.payload.data.stream.delta ?? '';
  return { socket, gate, sessionId, turnId };
}

/** Lets the good turn finish and reads it to its end: the socket is as it was. */
async function expectGoodTurnToFinish(socket: RawSocket, gate: script.Gate) {
  gate.open();
  let text = '';
  let last: { type: string; payload?: { data: { stream: { __typename: string } } } } | null = null;
  for (let frame = await socket.receiveFor('good'); frame?.type === 'next'; frame = await socket.receiveFor('good')) {
    expect(frame.payload.errors).toBeUndefined();
    text += frame.payload.data.stream.delta ?? '';
    last = frame;
  }
  expect(text).toBe('on');
  expect(last?.payload?.data.stream.__typename).toBe('TurnCompleted');
  // It takes new operations as well.
  socket.subscribe('after', '{ viewer { id } }');
  expect((await socket.receiveFor('after'))?.payload.data.viewer.id).toBe('local');
  await socket.close();
}

/** What the client is told of an operation that fails: codes, and how the operation ended. */
async function failureOf(socket: RawSocket, id: string) {
  const frames = [];
  for (let frame = await socket.receiveFor(id); frame !== null; frame = await socket.receiveFor(id)) {
    frames.push(frame);
    if (frame.type !== 'next') break;
  }
  const end = frames.at(-1);
  const errors = end?.type === 'error' ? end.payload : frames.at(-2)?.payload.errors;
  return { codes: errors?.map(({ extensions }: { extensions: { code: string } }) => extensions.code), end: end?.type };
}

/** The next frame of an operation that is not about its prompt. */
async function nextTold(socket: RawSocket, id: string) {
  for (;;) {
    const frame = await socket.receiveFor(id);
    if (frame?.payload?.data?.stream?.__typename !== 'ContextReported') return frame;
  }
}

type Operation = readonly [string, Record<string, unknown>?];
const faults: readonly [string, string, (sessionId: string, turnId: string) => Operation][] = [
  [
    'an unknown session',
    'NOT_FOUND',
    () => [documents.stream, { input: { sessionId: unknown('ChatSession'), message: 'x' } }],
  ],
  ['an unknown turn', 'NOT_FOUND', () => [documents.turnEvents, { turnId: unknown('Turn') }]],
  ['an id of another type', 'BAD_USER_INPUT', (sessionId) => [documents.turnEvents, { turnId: sessionId }]],
  ['a broken cursor', 'BAD_USER_INPUT', (_, turnId) => [documents.turnEvents, { turnId, after: '?' }]],
  ['a blank message', 'BAD_USER_INPUT', (sessionId) => [documents.stream, { input: { sessionId, message: ' ' } }]],
  ['a busy session', 'TURN_IN_PROGRESS', (sessionId) => [documents.stream, { input: { sessionId, message: 'x' } }]],
  ['a syntax error', 'BAD_USER_INPUT', () => ['subscription {']],
  ['an unknown field', 'BAD_USER_INPUT', () => ['subscription { nothing }']],
  ['a missing variable', 'BAD_USER_INPUT', () => [documents.stream, {}]],
  ['a wrong variable', 'BAD_USER_INPUT', () => [documents.stream, { input: { sessionId: { a: 1 }, message: 3 } }]],
  ['a query that fails', 'NOT_FOUND', () => [documents.session, { id: unknown('ChatSession') }]],
  [
    'a mutation that fails',
    'TURN_IN_PROGRESS',
    (sessionId) => [documents.send, { input: { sessionId, message: 'x' } }],
  ],
];

describe('on one socket, beside a turn that is being followed,', () => {
  it.each(faults)('%s ends its own operation with %s, and nothing else', async (_what, code, operation) => {
    const { socket, gate, sessionId, turnId } = await socketWithGoodTurn();
    socket.subscribe('bad', ...operation(sessionId, turnId));
    const { codes } = await failureOf(socket, 'bad');
    expect([...new Set(codes)]).toEqual([code]);
    await expectGoodTurnToFinish(socket, gate);
  });

  it('all of them at once end one by one', async () => {
    const { socket, gate, sessionId, turnId } = await socketWithGoodTurn();
    for (const [what, , operation] of faults) socket.subscribe(what, ...operation(sessionId, turnId));
    for (const [what, code] of faults) expect((await failureOf(socket, what)).codes, what).toContain(code);
    await expectGoodTurnToFinish(socket, gate);
  });

  it('a turn that fails ends with its event and a complete', async () => {
    const { socket, gate } = await socketWithGoodTurn();
    const other = await client.createSession();
    app.provider.enqueue([script.httpError(500)]);
    socket.subscribe('bad', documents.stream, { input: { sessionId: other, message: 'fail' } });
    const started = await socket.receiveFor('bad');
    expect(started?.payload.data.stream.__typename).toBe('TurnStarted');
    const failed = await nextTold(socket, 'bad');
    expect(failed?.payload.data.stream).toMatchObject({
      __typename: 'TurnFailed',
      error: { code: 'PROVIDER_UNAVAILABLE' },
    });
    expect((await socket.receiveFor('bad'))?.type).toBe('complete');
    await expectGoodTurnToFinish(socket, gate);
  });

  it('a turn whose session is deleted while it is followed ends with its event, or as what is not there', async () => {
    const { socket, gate } = await socketWithGoodTurn();
    const ends: string[] = [];
    // The end is read while the session goes: many rounds meet many moments of that.
    for (let round = 0; round < 30; round += 1) {
      const other = await client.createSession();
      const id = `bad ${round}`;
      app.provider.enqueue([script.text('soon gone'), script.silence()]);
      socket.subscribe(id, documents.stream, { input: { sessionId: other, message: 'x' } });
      for (let seen = 0; seen < 2; seen += 1) await nextTold(socket, id);
      const { errors } = await client.run('mutation ($id: ID!) { deleteChatSession(id: $id) }', { id: other });
      expect(errors).toBeUndefined();
      const { data, errors: told } = (await socket.receiveFor(id))?.payload ?? {};
      ends.push(told?.[0]?.extensions.code ?? data.stream.__typename);
      expect((await socket.receiveFor(id))?.type).toBe('complete');
    }
    expect(new Set(ends)).toEqual(new Set(ends.map((end) => (end === 'TurnStopped' ? end : 'NOT_FOUND'))));
    await expectGoodTurnToFinish(socket, gate);
  });

  it('an operation that was left or has ended says nothing more, and its id may be used again', async () => {
    const { socket, gate } = await socketWithGoodTurn();
    const other = await client.createSession();
    app.provider.enqueue([script.text('left'), script.silence()]);
    socket.subscribe('again', documents.stream, { input: { sessionId: other, message: 'x' } });
    const started = await socket.receiveFor('again');
    const written = await nextTold(socket, 'again');
    expect(written?.payload.data.stream.delta).toBe('left');
    socket.complete('again');
    socket.complete('never begun');
    socket.subscribe('between', '{ viewer { id } }');
    expect((await failureOf(socket, 'between')).end).toBe('complete');
    for (const turnId of [unknown('Turn'), unknown('Turn')]) {
      socket.subscribe('again', documents.turnEvents, { turnId });
      expect((await failureOf(socket, 'again')).codes).toEqual(['NOT_FOUND']);
    }
    // Leaving has stopped nothing.
    const { turnId } = started?.payload.data.stream ?? {};
    expect((await client.session(other)).activeTurn.id).toBe(turnId);
    await expectGoodTurnToFinish(socket, gate);
  });
});
