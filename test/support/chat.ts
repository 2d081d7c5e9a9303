import { askUser } from '../../src/agent/tools/ask-user.js';
import { createToolRegistry } from '../../src/agent/tools/registry.js';
import type { Tool } from '../../src/agent/tools/tool.js';
import type { Principal } from '../../src/auth/principal.js';
import { type Chat, createChat } from '../../src/chat/chat.js';
import type { ChatDependencies } from '../../src/chat/dependencies.js';
import type { NewSession } from '../../src/chat/service.js';
import { loadConfig } from '../../src/config.js';
import { type Database, openDatabase } from '../../src/db/database.js';
import { ChatError } from '../../src/errors.js';
import { isTerminal, type TurnEvent } from '../../src/events/event.js';
import { noFailpoint } from '../../src/failpoints.js';
import { newId } from '../../src/ids.js';
import { createModelCatalog } from '../../src/model/catalog.js';
import { createOpenAiModel } from '../../src/model/openai.js';
import { createTestDatabase } from './database.js';
import { silentLog } from './log.js';
import { type ScriptedProvider, startProvider } from './provider.js';

/** The domain over a database and a scripted provider of its own, without any transport. */
export interface TestChat {
  readonly chat: Chat;
  readonly database: Database;
  readonly provider: ScriptedProvider;
  readonly caller: Principal;
  createSession(input?: NewSession): Promise<string>;
  /** Rows of a query, to look behind the domain. */
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads from a row is its own business.
  rows(sql: string, ...values: unknown[]): Promise<any[]>;
  /** Another process on the same database, as far as the domain can tell. */
  another(overrides?: Partial<ChatDependencies>): Chat;
  close(): Promise<void>;
}

const caller: Principal = { owner: 'ada', tenant: '' };

/** All that is told, without what only the process knows that has stored the end. */
export async function readAll(events: AsyncIterable<TurnEvent>): Promise<TurnEvent[]> {
  const all: TurnEvent[] = [];
  for await (const event of events) {
    if (isTerminal(event)) delete (event as { stored?: unknown }).stored;
    all.push(event);
  }
  return all;
}

/** The code with which a call is refused; OK when it is not. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof ChatError) return error.code;
    throw error;
  }
  return 'OK';
}

export async function startTestChat(
  env: Readonly<Record<string, string>> = {},
  tools: readonly Tool[] = [],
): Promise<TestChat> {
  const testDatabase = await createTestDatabase();
  const provider = await startProvider();
  const config = loadConfig({
    OPENAI_BASE_URL: provider.url,
    OPENAI_API_KEY: 'test-key',
    MODEL: 'scripted',
    MODELS: JSON.stringify({
      scripted: {
        contextWindow: 8192,
        maxOutputTokens: 1024,
        inputPrice: 2.5,
        cachedInputPrice: 1.25,
        outputPrice: 10,
      },
    }),
    ...env,
  });
  const log = silentLog;
  const database = await openDatabase({ url: testDatabase.url, poolSize: config.database.poolSize, log });
  const catalog = createModelCatalog(config.model);
  const model = createOpenAiModel({ ...config.model, apiKey: 'test-key', baseUrl: provider.url, log });
  const build = (overrides: Partial<ChatDependencies>) =>
    createChat({
      database,
      model,
      catalog,
      tools: createToolRegistry([askUser, ...tools]),
      feed: null,
      log,
      settings: { ...config.chat, maxRetries: config.model.maxRetries },
      processId: newId(),
      exclusive: false,
      newId,
      now: () => new Date(),
      random: () => 0,
      failpoint: noFailpoint,
      ...overrides,
    });
  const chats: Chat[] = [];
  const another = (overrides: Partial<ChatDependencies> = {}) => {
    const chat = build(overrides);
    chats.push(chat);
    return chat;
  };
  const chat = another();
  return {
    chat,
    database,
    provider,
    another,
    caller,
    createSession: async (input = {}) => (await chat.service.createSession(caller, input)).id,
    rows: async (sql, ...values) => (await database.pool.query(sql, values)).rows,
    async close() {
      await Promise.all(chats.map((one) => one.close(0)));
      await provider.close();
      await database.close();
      await testDatabase.drop();
    },
  };
}
