import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/agent/tools/define-tool.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { chatClient, openEvents, openTurn, type Transport } from '../support/client.js';
import { answerQuestion, turnEvents } from '../support/documents.js';
import * as script from '../support/script.js';

let app: TestApp;
beforeAll(async () => {
  const add = defineTool({
    name: 'add',
    description: 'Adds.',
    parameters: z.object({ a: z.number(), b: z.number() }),
    sideEffect: 'none',
    run: ({ a, b }) => a + b,
  });
  app = await startTestApp({}, { tools: [add] });
});
afterAll(() => app.close());

// biome-ignore lint/suspicious/noExplicitAny: what a test reads from an event is its own business.
const kinds = (events: readonly any[]) => [...new Set(events.map(({ __typename }) => __typename))];

describe.each<Transport>(['ws', 'sse'])('over %s', (transport) => {
  it('who joins in the middle or after the end sees the same events as who was there from the start', async () => {
    const client = chatClient(app.url);
    const sessionId = await client.createSession();
    app.provider.enqueue(
      [
        script.thinking('Hm. '),
        script.callTools(
          [
            { id: 'c1', name: 'add', arguments: { a: 1, b: 2 } },
            { id: 'q1', name: 'ask_user', arguments: { question: 'Twice?' } },
          ],
          { content: 'Let me see.' },
        ),
      ],
      script.reply('It is 6.'),
    );
    const first = openTurn(app.url, transport, sessionId, 'add');
    const before = [];
    let asked = null;
    while (asked === null) {
      const event = await first.next();
      before.push(event);
      if (event.__typename === 'InputRequested') asked = event.request;
    }
    const { turnId } = before[0];
    const joined = openEvents(app.url, transport, turnEvents, { turnId });
    await joined.until(({ __typename }) => __typename === 'InputRequested');
    const resumed = openEvents(app.url, transport, turnEvents, { turnId, after: before.at(-1).cursor });
    await client.run(answerQuestion, { input: { requestId: asked.id, answer: 'yes' } });
    const after = await first.rest();
    const all = [...before, ...after];
    expect(kinds(all)).toEqual([
      'TurnStarted',
      'ContextReported',
      'ThinkingDelta',
      'TextDelta',
      'StepCompleted',
      'ToolCallStarted',
      'ToolCallCompleted',
      'InputRequested',
      'InputResolved',
      'TurnCompleted',
    ]);
    // biome-ignore lint/suspicious/noExplicitAny: as above.
    const places = (events: readonly any[]) => events.map(({ __typename, cursor }) => [__typename, cursor]);
    expect(places(await joined.rest())).toEqual(places(after));
    expect(places(await resumed.rest())).toEqual(places(after));
    const late = await openEvents(app.url, transport, turnEvents, { turnId }).rest();
    expect(places(late)).toEqual(places(all));
    expect(late.at(-1).response).toMatchObject({ content: 'It is 6.', toolCallsMade: 2, finishReason: 'STOP' });
  });
});
