import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf } from '../clients/results.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openEvents, openTurn, textOf } from '../support/client.js';
import { turnEvents } from '../support/documents.js';
import { pixel } from '../support/pixel.js';
import * as script from '../support/script.js';

// Field report A37: after a restart a page cannot show the messages and errors of before, and the next send does not
// know of them.
let app: TestApp;
let client: ChatClient;
let url: string;
beforeAll(async () => {
  app = await startTestApp({ MODEL_MAX_RETRIES: '0' });
  url = app.url;
  client = chatClient(url);
});
afterAll(() => app.close());

async function restart() {
  url = (await app.restart()).url;
  client = chatClient(url);
}

const usage = script.usage({ prompt: 11, completion: 7 });

/** A conversation in which everything has happened that a page may have to show. */
async function eventfulSession(): Promise<string> {
  const settings = { systemPrompt: 'Be kind.', maxStepsPerTurn: 1 };
  const id = await client.createSession({ title: 'Eventful', metadata: { tab: 3 }, ...settings });
  await client.seed(id, [
    { role: 'USER', content: 'seeded question' },
    { role: 'ASSISTANT', content: '', toolCalls: [{ id: 'c1', name: 'look', arguments: {} }] },
    { role: 'TOOL', content: 'seen', toolCallId: 'c1' },
    { role: 'ASSISTANT', content: 'seeded answer' },
  ]);
  app.provider.enqueue([script.thinking('hm '), script.text('whole answer'), script.finish('stop'), usage]);
  await client.send(id, 'a question', { clientMessageId: 'mine', images: [pixel] });
  app.provider.enqueue([script.text('half an ans'), script.cutFin]);
  await client.trySend(id, 'one that fails');
  app.provider.enqueue([script.httpError(401)]);
  await client.trySend(id, 'one that is refused');
  app.provider.enqueue([script.text('long answ'), script.finish('length'), usage]);
  await client.send(id, 'one that is too long');
  app.provider.enqueue([script.text('never mi'), script.silence()]);
  const stopped = openTurn(url, 'ws', id, 'one that is stopped');
  await stopped.until(({ __typename }) => __typename === 'TextDelta');
  await client.stop(id);
  await stopped.rest();
  return id;
}

const details = /* GraphQL */ `
  query ($id: ID!) {
    chatSession(id: $id) {
      title metadata systemPrompt model createdAt updatedAt
      messages(first: 100) {
        totalCount
        edges { cursor node { id role content status createdAt toolCallId toolCalls { id name arguments result status } images { url } } }
      }
      turns(first: 100) {
        edges { cursor node { id createdAt startedAt finishedAt costUsd error { code message retryable } response { content finishReason } } }
      }
      modelCalls(first: 100) { edges { cursor node { id latencyMs error { code message retryable } } } }
      traceEvents(first: 100) { edges { cursor node { id at type data turn { id } } } }
    }
    viewer { sessionCount totalCostUsd totalTokens }
  }
`;

/** All that a page can read of a session, the turns told again included. */
async function everything(id: string) {
  const summary = await client.session(id);
  const events = [];
  for (const { id: turnId } of summary.turns.nodes) {
    events.push(await openEvents(url, 'sse', turnEvents, { turnId }).rest());
  }
  return { summary, events, details: (await client.run(details, { id })).data };
}

describe('a server that was restarted between two turns', () => {
  it('shows every message, error, figure, trace and event as before, and goes on from there', async () => {
    const id = await eventfulSession();
    const before = await everything(id);
    expect(before.summary.turns.nodes.map((turn: { status: string }) => turn.status)).toEqual([
      'COMPLETED',
      'FAILED',
      'FAILED',
      'COMPLETED',
      'STOPPED',
    ]);

    await restart();
    expect(await everything(id)).toEqual(before);

    const reply = await client.send(id, 'and now?');
    expect(reply).toMatchObject({ content: 'echo: and now?', turn: { number: 6 }, session: { turnCount: 6 } });
    const { messages } = app.provider.requests.at(-1)?.body ?? { messages: [] };
    expect(
      messages.map(({ role, content }) => [role, typeof content === 'string' ? content : 'with an image']),
    ).toEqual([
      ['system', 'Be kind.'],
      ['user', 'seeded question'],
      ['assistant', expect.anything()],
      ['tool', 'seen'],
      ['assistant', 'seeded answer'],
      ['user', 'with an image'],
      ['assistant', 'whole answer'],
      ['user', 'one that fails'],
      ['assistant', 'half an ans'],
      ['user', 'one that is refused'],
      ['user', 'one that is too long'],
      ['assistant', 'long answ'],
      ['user', 'one that is stopped'],
      ['assistant', 'never mi'],
      ['user', 'and now?'],
    ]);
    expect(app.provider.violations).toEqual([]);
    // What was there is as it was, with the new turn behind it.
    const { history } = await client.session(id);
    expect(history.slice(0, -2)).toEqual(before.summary.history);
  }, 30_000);

  it('knows the client ids of before: a retry finds its turn or its error, and asks nobody', async () => {
    const id = await client.createSession({ clientSessionId: 'one page' });
    const sent = await client.send(id, 'hello', { clientMessageId: 'a' });
    app.provider.enqueue([script.httpError(500)]);
    const failed = await client.trySend(id, 'oh no', { clientMessageId: 'b' });
    await restart();
    const requests = app.provider.requests.length;
    expect(await client.createSession({ clientSessionId: 'one page' })).toBe(id);
    expect(await client.send(id, 'hello', { clientMessageId: 'a' })).toMatchObject({ turn: sent.turn });
    const again = await client.trySend(id, 'oh no', { clientMessageId: 'b' });
    expect(codesOf(again)).toEqual(['PROVIDER_UNAVAILABLE']);
    expect(again.errors?.[0]?.extensions?.turnId).toBe(failed.errors?.[0]?.extensions?.turnId);
    expect(again.errors?.[0]?.message).toBe(failed.errors?.[0]?.message);
    expect(app.provider.requests).toHaveLength(requests);
  });

  it('still refuses what it had refused: a closed session, a used-up budget', async () => {
    const closed = await client.createSession();
    await client.run('mutation ($id: ID!) { closeChatSession(id: $id) { id } }', { id: closed });
    const poor = await client.createSession({ tools: [], budget: { maxTokens: 60 } });
    app.provider.enqueue(script.reply('No more.', { usage: { prompt: 40, completion: 20 } }));
    await client.send(poor, 'the last one');
    await restart();
    expect(codesOf(await client.trySend(closed, 'hello?'))).toEqual(['SESSION_CLOSED']);
    expect(codesOf(await client.trySend(poor, 'one more?'))).toEqual(['BUDGET_EXCEEDED']);
  });

  it('goes on with the turn that ran, and the next send knows what was said', async () => {
    const id = await client.createSession();
    app.provider.enqueue([script.text('I was about to'), script.silence()], script.reply('and now I do'));
    const turn = openTurn(url, 'ws', id, 'tell me');
    const { turnId } = await turn.until(({ __typename }) => __typename === 'TextDelta');
    turn.leave();
    await restart();
    const events = await openEvents(url, 'sse', turnEvents, { turnId }).rest();
    expect(textOf(events)).toBe('and now I do');
    const session = await client.session(id);
    expect(session.activeTurn).toBeNull();
    expect(session.turns.nodes[0]).toMatchObject({ status: 'COMPLETED', error: null });
    expect(session.history[1]).toMatchObject({ content: 'and now I do', status: 'COMPLETE' });
    expect(session.modelCalls.nodes).toHaveLength(2);
    await client.send(id, 'go on');
    expect(
      app.provider.requests
        .at(-1)
        ?.body.messages.map(({ content }) => content)
        .slice(1),
    ).toEqual(['tell me', 'and now I do', 'go on']);
  });
});
