import { type ExecutionResult, parse, subscribe } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config.js';
import { type Context, createLoaders } from '../../../src/graphql/context.js';
import { globalId } from '../../../src/graphql/ids.js';
import { buildSchema } from '../../../src/graphql/schema.js';
import { createModelCatalog } from '../../../src/model/catalog.js';
import { startTestChat, type TestChat } from '../../support/chat.js';
import * as script from '../../support/script.js';

let test: TestChat;
beforeAll(async () => {
  test = await startTestChat();
});
afterAll(() => test.close());

const schema = buildSchema();
const document = parse(/* GraphQL */ `
  subscription ($input: StreamInput!) {
    stream(input: $input) {
      __typename
      ... on TurnCompleted { response { session { turnCount messageCount totalTokens totalCostUsd } } }
    }
  }
`);

/** Events that are only made when they are asked for, as for a client whose connection is jammed. */
async function openTurn(sessionId: string, message: string) {
  const contextValue: Context = {
    principal: test.caller,
    requestId: 'test',
    operationId: null,
    signal: () => new AbortController().signal,
    chat: test.chat.service,
    database: test.database,
    catalog: createModelCatalog(loadConfig({}).model),
    loaders: createLoaders(),
  };
  const variableValues = { input: { sessionId: globalId('ChatSession', sessionId), message } };
  return (await subscribe({ schema, document, variableValues, contextValue })) as AsyncGenerator<ExecutionResult>;
}

async function sessionAtEnd(events: AsyncGenerator<ExecutionResult>): Promise<unknown> {
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads from an answer is its own business.
  const all: any[] = [];
  for await (const { data } of events) all.push(data?.stream);
  return all.at(-1).response.session;
}

describe('a client that reads the end of a turn late', () => {
  it('is told the totals after that turn, whatever has come of the session since', async () => {
    const sessionId = await test.createSession();
    const reply = script.reply('Hi.', { usage: { prompt: 100, cached: 40, completion: 7 } });
    test.provider.enqueue(reply, reply);
    const first = await openTurn(sessionId, 'first');
    const active = () => test.rows('SELECT active_turn_id FROM chat_sessions WHERE id = $1', sessionId);
    await expect.poll(active).toEqual([{ active_turn_id: null }]);
    const second = await openTurn(sessionId, 'second');
    expect(await sessionAtEnd(second)).toEqual({
      turnCount: 2,
      messageCount: 4,
      totalTokens: 214,
      totalCostUsd: 0.00054,
    });
    expect(await sessionAtEnd(first)).toEqual({
      turnCount: 1,
      messageCount: 2,
      totalTokens: 107,
      totalCostUsd: 0.00027,
    });
  });
});
