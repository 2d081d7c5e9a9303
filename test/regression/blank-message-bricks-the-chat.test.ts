import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf } from '../clients/results.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openTurn } from '../support/client.js';
import * as script from '../support/script.js';

// Field report A28: an empty or blank message in the history makes strict providers refuse every later request.
let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp();
  client = chatClient(app.url);
});
afterAll(() => app.close());

describe('a blank message', () => {
  it.each([
    ['no chunk at all', [script.finish('stop')]],
    ['an empty chunk', [script.text(''), script.finish('stop')]],
    ['blanks only', [script.text(' \n\t '), script.finish('stop'), script.usage({ prompt: 5, completion: 1 })]],
    ['blanks up to the output limit', [script.text('  '), script.finish('length')]],
    ['blanks, then a cut', [script.text('\n\n'), script.cutFin]],
  ])('from the model (%s) fails the turn and is not kept', async (_what, reply) => {
    const id = await client.createSession();
    app.provider.enqueue(reply);
    const failed = await client.trySend(id, 'hello');
    expect(['EMPTY_RESPONSE', 'PROVIDER_BAD_RESPONSE']).toContain(codesOf(failed)[0]);
    expect((await client.session(id)).history).toHaveLength(1);
    await client.send(id, 'next');
    expect(app.provider.requests.at(-1)?.body.messages.map((message) => message.role)).toEqual([
      'system',
      'user',
      'user',
    ]);
    expect(app.provider.violations).toEqual([]);
  });

  it('from the model is not kept either when a reader has it stored half-way, or when the turn is stopped', async () => {
    const id = await client.createSession();
    app.provider.enqueue([script.text('   '), script.silence()]);
    const turn = openTurn(app.url, 'ws', id, 'hello');
    await turn.until((event) => event.__typename === 'TextDelta');
    expect((await client.session(id)).history).toHaveLength(1);
    await client.stop(id);
    expect((await turn.rest()).at(-1)).toMatchObject({ __typename: 'TurnStopped', response: { message: null } });
    expect((await client.session(id)).history).toHaveLength(1);
  });

  it.each(['', '   ', '\n'])('in a seed (%j) refuses the seed whole', async (content) => {
    const id = await client.createSession();
    const seeded = await client.seed(id, [
      { role: 'USER', content: 'fine' },
      { role: 'ASSISTANT', content },
    ]);
    expect(codesOf(seeded)).toEqual(['BAD_USER_INPUT']);
    expect((await client.session(id)).messageCount).toBe(0);
  });

  it('in a seed as null is refused by the schema', async () => {
    const id = await client.createSession();
    expect(codesOf(await client.seed(id, [{ role: 'USER', content: null }]))).toEqual(['BAD_USER_INPUT']);
  });
});
