import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { chatClient } from '../../support/client.js';
import { freePort } from '../../support/free-port.js';
import { findRedis } from '../../support/redis-server.js';

const redis = await findRedis();

async function answer(app: TestApp): Promise<unknown> {
  const client = chatClient(app.url);
  return client.send(await client.createSession(), 'hello');
}

describe('a server whose REDIS_URL leads nowhere', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({ REDIS_URL: `redis://user:a-redis-secret@127.0.0.1:${await freePort()}` });
  });
  afterAll(() => app.close());

  test('answers, and says once that Redis is away', { timeout: 30_000 }, async () => {
    await app.waitForLog('Redis is away');
    expect(await answer(app)).toMatchObject({ content: 'echo: hello' });
    expect(app.logLines.filter((line) => line.includes('Redis'))).toHaveLength(1);
    expect(app.logLines.join()).not.toContain('a-redis-secret');
  });
});

describe.skipIf(redis === null)('a server with a Redis at REDIS_URL', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({ REDIS_URL: redis ?? '' });
  });
  afterAll(() => app.close());

  test('uses it', { timeout: 30_000 }, async () => {
    await app.waitForLog('Redis carries events');
    expect(await answer(app)).toMatchObject({ content: 'echo: hello' });
  });
});
