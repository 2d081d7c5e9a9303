import { type Chat, createChat } from '../../src/chat/chat.js';
import type { ChatDependencies } from '../../src/chat/dependencies.js';
import { loadConfig } from '../../src/config.js';
import { type Database, openDatabase } from '../../src/db/database.js';
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
  /** Another process on the same database, as far as the domain can tell. */
  another(overrides?: Partial<ChatDependencies>): Chat;
  close(): Promise<void>;
}

const caller = { owner: 'ada', tenant: '' };

export async function startTestChat(
  env: Readonly<Record<string, string>> = {},
): Promise<TestChat & { caller: typeof caller }> {
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
      log,
      settings: { ...config.chat, maxRetries: config.model.maxRetries },
      processId: newId(),
      exclusive: false,
      newId,
      now: () => new Date(),
      random: () => 0,
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
    async close() {
      await Promise.all(chats.map((one) => one.close(0)));
      await provider.close();
      await database.close();
      await testDatabase.drop();
    },
  };
}
