import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf } from '../../clients/results.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type ChatClient, chatClient } from '../../support/client.js';
import { scriptedModels } from '../../support/scripted-env.js';
import { startSecondApp } from '../../support/second-app.js';

const models = JSON.stringify({
  ...JSON.parse(scriptedModels),
  other: { contextWindow: 8_192, inputPrice: 0, outputPrice: 0 },
});
let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp({ MODELS: models });
  client = chatClient(app.url);
});
afterAll(() => app.close());

describe('a session whose model is not offered any more', () => {
  it('refuses turns with what to do about it, and goes on with another model', async () => {
    const id = await client.createSession({ model: 'other' });
    await client.send(id, 'before');
    const second = await startSecondApp(app, { MODELS: scriptedModels });
    try {
      const later = chatClient(second.url);
      const refused = await later.trySend(id, 'after');
      expect(codesOf(refused)).toEqual(['BAD_USER_INPUT']);
      expect(refused.errors?.[0]?.message).toMatch(/model of this session, other, is not offered.*updateChatSession/);
      expect((await later.session(id)).turnCount).toBe(1);
      await later.run('mutation ($id: ID!) { updateChatSession(input: { id: $id, model: "scripted" }) { model } }', {
        id,
      });
      expect((await later.send(id, 'after')).content).toBe('echo: after');
    } finally {
      await second.close();
    }
  });
});
