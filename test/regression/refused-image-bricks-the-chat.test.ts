import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf } from '../clients/results.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient } from '../support/client.js';
import { pixel } from '../support/pixel.js';
import type { WireMessage } from '../support/provider.js';
import * as script from '../support/script.js';

// Field report A60: an image that the provider refuses goes out again with every later message, and is refused again.
let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp();
  client = chatClient(app.url);
});
afterAll(() => app.close());

const hasImage = ({ content }: WireMessage) =>
  Array.isArray(content) && content.some(({ type }: { type: string }) => type === 'image_url');
const lastPrompt = () => app.provider.requests.at(-1)?.body.messages ?? [];
const tooLarge = script.httpError(400, {
  error: { message: 'image too large', type: 'invalid_request_error', param: null, code: null },
});

/** Refuses images as a provider does that cannot take them: every time. */
async function withoutImages<T>(work: () => Promise<T>): Promise<T> {
  app.provider.onRequest(({ body }) => (body.messages.some(hasImage) ? [tooLarge] : undefined));
  try {
    return await work();
  } finally {
    app.provider.onRequest(() => undefined);
  }
}

describe('an image that the provider refuses', () => {
  it.each([
    ['as data', pixel],
    ['by reference', 'https://example.com/large.png'],
  ])('(%s) fails its turn, and is set aside for the next one', async (_how, image) => {
    const id = await client.createSession();
    await withoutImages(async () => {
      const refused = await client.trySend(id, 'what is this?', { images: [image] });
      expect(codesOf(refused)).toEqual(['PROVIDER_REFUSED']);
      expect(await client.send(id, 'never mind')).toMatchObject({ content: 'echo: never mind' });
      expect(await client.send(id, 'go on')).toMatchObject({ content: 'echo: go on' });
    });
    const prompt = lastPrompt();
    expect(prompt.some(hasImage)).toBe(false);
    expect(prompt[1]?.content).toMatch(/^what is this\?\n\n\[1 image set aside, since the provider refused it: /);
    expect(prompt.slice(2).map(({ content }) => content)).toEqual(['never mind', 'echo: never mind', 'go on']);
    expect((await client.session(id)).history).toHaveLength(5);
    expect(app.provider.violations).toEqual([]);
  });

  it('after others that it took is set aside with them, since the provider does not say which it was', async () => {
    const id = await client.createSession();
    await client.send(id, 'look', { images: [pixel] });
    app.provider.enqueue([tooLarge]);
    expect(codesOf(await client.trySend(id, 'and this?', { images: [pixel] }))).toEqual(['PROVIDER_REFUSED']);
    await client.send(id, 'go on');
    expect(lastPrompt().some(hasImage)).toBe(false);
    await client.send(id, 'a new one', { images: [pixel] });
    expect(lastPrompt().filter(hasImage)).toHaveLength(1);
    await client.send(id, 'go on');
    expect(lastPrompt().filter(hasImage)).toHaveLength(1);
    expect(app.provider.violations).toEqual([]);
  });

  it('goes out again when that turn is asked for again, as another provider may take it', async () => {
    const id = await client.createSession();
    app.provider.enqueue([tooLarge]);
    expect(codesOf(await client.trySend(id, 'what is this?', { images: [pixel] }))).toEqual(['PROVIDER_REFUSED']);
    await client.regenerate(id);
    expect(lastPrompt().filter(hasImage)).toHaveLength(1);
    await client.send(id, 'go on');
    expect(lastPrompt().filter(hasImage)).toHaveLength(1);
  });

  it('is set aside in a copy of the conversation, and in a copy of that', async () => {
    const id = await client.createSession();
    await withoutImages(async () => {
      await client.trySend(id, 'what is this?', { images: [pixel] });
      const copy = await client.fork(await client.fork(id));
      expect(await client.send(copy, 'never mind')).toMatchObject({ content: 'echo: never mind' });
      expect(lastPrompt()[1]?.content).toMatch(/1 image set aside/);
    });
  });
});
