import { type DocumentNode, type ExecutionResult, execute, type GraphQLSchema, parse, validate } from 'graphql';
import pg from 'pg';
import { vi } from 'vitest';
import type { Principal } from '../../src/auth/principal.js';
import type { ChatService } from '../../src/chat/service.js';
import { loadConfig } from '../../src/config.js';
import { type Database, openDatabase } from '../../src/db/database.js';
import { type Context, createLoaders } from '../../src/graphql/context.js';
import { buildSchema } from '../../src/graphql/schema.js';
import { createModelCatalog } from '../../src/model/catalog.js';
import { createTestDatabase } from './database.js';
import { silentLog } from './log.js';

/** A chat for tests that only read: flush does nothing, and everything else would be a mistake of the test. */
export const readOnlyChat = new Proxy({} as ChatService, {
  get: (_target, name) => {
    if (name === 'flush') {
      return async () => {};
    }
    throw new Error(`A reading test called chat.${String(name)}.`);
  },
});

export interface TestSchema {
  readonly schema: GraphQLSchema;
  readonly database: Database;
  context(principal: Principal, overrides?: Partial<Context>): Context;
  /** Validates and executes one document for `principal`, with a context of its own. */
  run(
    principal: Principal,
    document: string,
    variables?: Record<string, unknown>,
    overrides?: Partial<Context>,
    // biome-ignore lint/suspicious/noExplicitAny: the tests say what an answer has to look like
  ): Promise<ExecutionResult<any>>;
  close(): Promise<void>;
}

/** The schema over a database of its own, without any transport. */
export async function startTestSchema(): Promise<TestSchema> {
  const testDatabase = await createTestDatabase();
  const database = await openDatabase({ url: testDatabase.url, poolSize: 5, log: silentLog });
  const schema = buildSchema();
  const catalog = createModelCatalog(loadConfig({}).model);
  const context = (principal: Principal, overrides: Partial<Context> = {}): Context => ({
    principal,
    requestId: 'test',
    operationId: null,
    signal: () => new AbortController().signal,
    chat: readOnlyChat,
    database,
    catalog,
    loaders: createLoaders(),
    ...overrides,
  });
  return {
    schema,
    database,
    context,
    async run(principal, text, variables = {}, overrides = {}) {
      const document: DocumentNode = parse(text);
      const errors = validate(schema, document);
      return errors.length > 0
        ? { errors }
        : execute({ schema, document, variableValues: variables, contextValue: context(principal, overrides) });
    },
    async close() {
      await database.close();
      await testDatabase.drop();
    },
  };
}

/** The texts of all statements that `action` sends to Postgres, through Prisma or not. */
export async function statementsOf(action: () => Promise<unknown>): Promise<string[]> {
  const query = vi.spyOn(pg.Client.prototype, 'query');
  try {
    await action();
    return query.mock.calls.map(([config]) =>
      typeof config === 'string' ? config : (config as { text: string }).text,
    );
  } finally {
    query.mockRestore();
  }
}

/** Code and path of every error, as clients meet them. */
export const codesOf = ({ errors }: ExecutionResult): { code: unknown; path: string }[] =>
  (errors ?? []).map(({ originalError, extensions, path }) => ({
    code: (originalError as { code?: unknown } | undefined)?.code ?? extensions.code,
    path: path?.join('.') ?? '',
  }));
