import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openTurn, textOf } from '../support/client.js';
import * as script from '../support/script.js';

// Field reports A14 and A15: a character that is split over two reads turns into a replacement mark, and a chunk without
// choices ends the turn.
let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp();
  client = chatClient(app.url);
});
afterAll(() => app.close());

describe('a reply over an awkward wire', () => {
  it('keeps emoji and CJK exact when every byte comes alone', async () => {
    const said = 'Grüße 👩‍🚀 你好 🇳🇴 é';
    const id = await client.createSession();
    app.provider.enqueue(
      script.bytewise(
        script.text(said, { chunks: 5 }),
        script.finish('stop'),
        script.usage({ prompt: 1, completion: 9 }),
      ),
    );
    const events = await openTurn(app.url, 'ws', id, 'hi').rest();
    expect(textOf(events)).toBe(said);
    expect((await client.session(id)).history[1].content).toBe(said);
  });

  it('takes usage in chunks without choices, first and last, and counts it once', async () => {
    const id = await client.createSession();
    app.provider.enqueue([
      script.usage({ prompt: 50, completion: 0 }),
      script.text('fine'),
      script.finish('stop'),
      script.usage({ prompt: 50, completion: 4 }),
    ]);
    const reply = await client.send(id, 'hi');
    expect(reply).toMatchObject({ content: 'fine', tokensUsed: 54, usage: { estimated: false } });
    expect(await client.session(id)).toMatchObject({ totalTokens: 54, modelCalls: { totalCount: 1 } });
  });
});
