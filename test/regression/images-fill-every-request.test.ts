import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { codeOf, startTestChat, type TestChat } from '../support/chat.js';
import { imagesOf, textsOf } from '../support/prompts.js';
import type { RecordedRequest } from '../support/provider.js';
import * as script from '../support/script.js';

const megabyte = 1024 * 1024;
let test: TestChat;
beforeAll(async () => {
  test = await startTestChat({ BUDGET_MAX_TOKENS: '100000000' });
});
afterEach(() => expect(test.provider.violations).toEqual([]));
afterAll(() => test.close());

/** A picture of so many bytes that no other is equal to. */
function picture(bytes: number): string {
  const data = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), randomBytes(bytes - 8)]);
  return `data:image/png;base64,${data.toString('base64')}`;
}

const last = () => test.provider.requests.at(-1) as RecordedRequest;
const send = (sessionId: string, message: string, images: readonly string[] = []) =>
  test.chat.service.send(test.caller, { sessionId, message, images });
const allImages = ({ body }: RecordedRequest) => body.messages.flatMap(imagesOf);
const allTexts = ({ body }: RecordedRequest) => body.messages.flatMap(textsOf);

describe('many large images in a conversation', () => {
  it('do not all ride along: the newest do, and the old ones are noted', async () => {
    const sessionId = await test.createSession();
    for (let turn = 1; turn <= 8; turn += 1) {
      const own = picture(3 * megabyte);
      await send(sessionId, `picture ${turn}`, [own]);
      expect(allImages(last())).toContain(own);
      expect(last().byteLength).toBeLessThan(13 * megabyte);
    }
    await send(sessionId, 'only words');
    expect(last().byteLength).toBeLessThan(9 * megabyte);
    expect(allTexts(last()).join('\n')).toMatch(
      /picture 1\n\n\[1 image not shown again: image\/png of 3,072 kilobytes\]/,
    );
    expect(allTexts(last()).at(-1)).toBe('only words');
  }, 60_000);

  it('are not read from the database when they are not sent', async () => {
    const sessionId = await test.createSession();
    for (const message of ['one', 'two', 'three']) await send(sessionId, message, [picture(3 * megabyte)]);
    const original = test.database.pool.query;
    const read: number[] = [];
    test.database.pool.query = ((config: { name?: string; values?: unknown[][] }, ...rest: []) => {
      if (config.name === 'image-bytes') read.push(config.values?.[1]?.length ?? 0);
      return (original as (...args: unknown[]) => unknown).call(test.database.pool, config, ...rest);
    }) as typeof original;
    try {
      for (let turn = 0; turn < 3; turn += 1) await send(sessionId, `words ${turn}`);
    } finally {
      test.database.pool.query = original;
    }
    // Two of the three fit under the limit of a request.
    expect(allImages(last())).toHaveLength(2);
    expect(read).toEqual([2, 2, 2]);
  }, 60_000);
});

describe('an image that the provider refuses', () => {
  it('is set aside, so that the conversation goes on', async () => {
    const sessionId = await test.createSession();
    await send(sessionId, 'look at this', ['https://example.com/gone.png']);
    test.provider.enqueue([script.httpError(400)]);
    expect(await codeOf(send(sessionId, 'and this', [picture(1_000)]))).toBe('PROVIDER_REFUSED');
    await send(sessionId, 'just text');
    expect(allImages(last())).toEqual([]);
    expect(allTexts(last()).join('\n')).toContain(
      'look at this\n\n[1 image set aside, since the provider refused it: https://example.com/gone.png]',
    );
    const fresh = picture(2_000);
    await send(sessionId, 'a better one', [fresh]);
    expect(allImages(last())).toEqual([fresh]);
  });
});

describe('the bytes of an image', () => {
  it('do not count as words, so that no words have to go for them', async () => {
    const sessionId = await test.createSession();
    await send(sessionId, 'what is it?', [picture(2 * megabyte)]);
    for (let turn = 1; turn <= 20; turn += 1) await send(sessionId, `short ${turn}`);
    const said = allTexts(last());
    for (let turn = 1; turn <= 20; turn += 1) expect(said).toContain(`short ${turn}`);
    expect(said.join()).toContain('what is it?');
  });
});

describe('a reply with an image in its text', () => {
  it('is stored whole, and not sent back whole each time', async () => {
    const sessionId = await test.createSession({ budget: { maxCostUsd: null, maxTokens: null } });
    const reply = `Here it is: ![a ship](${picture(1.5 * megabyte)}) Do you like it?`;
    test.provider.enqueue(script.reply(reply, { chunks: 64 }));
    await send(sessionId, 'draw a ship');
    const [stored] = await test.rows(
      `SELECT length(content) AS length FROM messages WHERE session_id = $1 AND role = 'ASSISTANT'`,
      sessionId,
    );
    expect(stored.length).toBe(reply.length);
    for (const message of ['yes', 'another']) {
      await send(sessionId, message);
      expect(last().byteLength).toBeLessThan(10_000);
      expect(allTexts(last()).join('\n')).toMatch(
        /Here it is: !\[a ship\]\(\[data URL of image\/png, [\d,]+ characters, left out\]\) Do you like it\?/,
      );
    }
  });
});
