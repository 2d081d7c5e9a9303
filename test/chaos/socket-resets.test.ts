import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startTestApp, type TestApp } from '../support/app.js';
import { chatClient } from '../support/client.js';
import { stream } from '../support/documents.js';
import { chaosSeed, seededRandom } from '../support/random.js';
import { paced, reply } from '../support/script.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';

const resets = 100;
const talks = 10;
const answer = 'A long answer that comes in many small pieces, so that every reset hits it somewhere else. '.repeat(6);

let app: TestApp;
let proxy: TcpProxy;
beforeAll(async () => {
  app = await startTestApp();
  proxy = await startTcpProxy(app.url);
  app.provider.onRequest(() => paced(40, reply(answer, { chunks: 200 })));
});
afterAll(async () => {
  await proxy.close();
  await app.close();
});

/** What a frontend that knows nothing of cursors makes of a stream: it begins anew with every TurnStarted. */
async function talk(sessionId: string, more: Record<string, unknown>): Promise<{ text: string; ends: string[] }> {
  const client = createClient({
    url: `${proxy.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: () => true,
    retryWait: () => sleep(10),
  });
  let text = '';
  const ends: string[] = [];
  for await (const { data, errors } of client.iterate<Record<string, { __typename: string; delta?: string }>>({
    query: stream,
    variables: { input: { sessionId, message: 'tell me', ...more } },
  })) {
    expect(errors).toBeUndefined();
    const event = data?.stream;
    if (event?.__typename === 'TurnStarted') text = '';
    else if (event?.__typename === 'TextDelta') text += event.delta;
    else if (event?.__typename.startsWith('Turn')) ends.push(event.__typename);
  }
  await client.dispose();
  return { text, ends };
}

test(`${resets} resets under stock clients start no turn twice and lose no text`, { timeout: 120_000 }, async () => {
  const random = seededRandom(chaosSeed());
  const client = chatClient(app.url);
  const ids = await Promise.all(Array.from({ length: talks }, () => client.createSession()));
  // Half of them give a key of their own; the others are known by their operation's id.
  const talking = ids.map((id, at) => talk(id, at % 2 === 0 ? { clientMessageId: `message ${at}` } : {}));
  await app.provider.request(talks - 1);
  let done = 0;
  while (done < resets && app.provider.requests.length === talks) {
    await sleep(random() * 120);
    if (proxy.connections.length === 0) continue;
    proxy.reset();
    done += 1;
  }
  expect(done).toBe(resets);
  for (const { text, ends } of await Promise.all(talking)) {
    expect(text).toBe(answer);
    expect(ends).toEqual(['TurnCompleted']);
  }
  expect(app.provider.requests).toHaveLength(talks);
  for (const id of ids) {
    const { history, turnCount, modelCalls } = await client.session(id);
    expect(turnCount).toBe(1);
    expect(history.map(({ content }: { content: string }) => content)).toEqual(['tell me', answer]);
    expect(modelCalls.totalCount).toBe(1);
  }
});
