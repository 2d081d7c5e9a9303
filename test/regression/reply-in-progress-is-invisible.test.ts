import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openTurn } from '../support/client.js';
import * as script from '../support/script.js';

// Field report A09: during a reply, a fresh page shows nothing of it.
let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp();
  client = chatClient(app.url);
});
afterAll(() => app.close());

describe('a reply in progress', () => {
  it('is in the history, marked and as long as what was streamed', async () => {
    const id = await client.createSession();
    const half = script.gate();
    const words = Array.from({ length: 20 }, (_, at) => `w${at} `);
    app.provider.enqueue([
      words.slice(0, 10).map((word) => script.text(word)),
      script.pause(half),
      words.slice(10).map((word) => script.text(word)),
      script.finish('stop'),
      script.usage({ prompt: 1, completion: 20 }),
    ]);
    const turn = openTurn(app.url, 'ws', id, 'twenty words');
    let streamed = '';
    await turn.until((event) => {
      streamed += event.delta ?? '';
      return streamed === words.slice(0, 10).join('');
    });
    const during = await client.session(id);
    expect(during.history[1]).toMatchObject({ role: 'ASSISTANT', status: 'STREAMING', content: streamed });
    expect(during.messageCount).toBe(2);
    expect(during.activeTurn.status).toBe('RUNNING');
    half.open();
    await turn.rest();
    const after = await client.session(id);
    expect(after.history[1]).toMatchObject({ id: during.history[1].id, status: 'COMPLETE', content: words.join('') });
    expect(after.messageCount).toBe(2);
  });
});
