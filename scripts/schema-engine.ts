import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type * as SchemaEngineModule from '@prisma/schema-engine-wasm/schema_engine_bg';

type Exports = Readonly<Record<string, unknown>>;
type EngineBindings = typeof SchemaEngineModule & { __wbg_set_wasm(exports: Exports): void };

// The types of Node 20 leave this global to the browser's library, which is not loaded here.
declare const WebAssembly: {
  instantiate(code: Uint8Array, imports: Record<string, unknown>): Promise<{ instance: { exports: Exports } }>;
};

const bindingsPath = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg');

const ok = async (value?: unknown) => ({ ok: true, value });
const never = async () => {
  throw new Error('Comparing two schema files must not touch a database.');
};

/** Comparing two schema files needs no database, but the engine sets up a connection and asks for the version first. */
const noDatabase = {
  provider: 'postgres',
  adapterName: 'no-database',
  errorRegistry: { consumeError: () => undefined },
  connectToShadowDb: never,
  connect: () =>
    ok({
      provider: 'postgres',
      adapterName: 'no-database',
      queryRaw: () => ok({ columnTypes: [], columnNames: [], rows: [] }),
      executeRaw: () => ok(0),
      executeScript: () => ok(),
      startTransaction: never,
      dispose: () => ok(),
      getConnectionInfo: () => ({ ok: true, value: { schemaName: 'public', supportsRelationJoins: true } }),
    }),
};

/**
 * Prisma's own schema engine as WebAssembly. `prisma migrate` cannot be used because it downloads a binary. The module
 * is an internal one of Prisma, without a loader for Node, hence the instantiation by hand.
 */
async function loadBindings(): Promise<EngineBindings> {
  const bindings = (await import(bindingsPath)) as EngineBindings;
  const wasm = await readFile(bindingsPath.replace(/\.js$/, '.wasm'));
  const { instance } = await WebAssembly.instantiate(wasm, { './schema_engine_bg.js': bindings });
  bindings.__wbg_set_wasm(instance.exports);
  (instance.exports.__wbindgen_start as () => void)();
  return bindings;
}

let loaded: Promise<EngineBindings> | undefined;

/** An engine for the given schema, on a driver adapter of Prisma, or on no database at all. Free it after use. */
export async function openSchemaEngine(
  schema: string,
  adapter: object = noDatabase,
): Promise<SchemaEngineModule.SchemaEngine> {
  loaded ??= loadBindings();
  const { SchemaEngine } = await loaded;
  return SchemaEngine.new({ datamodels: [['schema.prisma', schema]] }, () => {}, adapter);
}

/** The SQL that turns a database of the one Prisma schema into a database of the other; `null` is an empty database. */
export async function diffSchemas(from: string | null, to: string): Promise<string> {
  const engine = await openSchemaEngine(to);
  try {
    const result = await engine.diff({
      from: from === null ? { tag: 'empty' } : schemaFile(from),
      to: schemaFile(to),
      script: true,
      exitCode: null,
      filters: { externalTables: [], externalEnums: [] },
    });
    return result.stdout ?? '';
  } finally {
    engine.free();
  }
}

const schemaFile = (content: string) => ({
  tag: 'schemaDatamodel' as const,
  files: [{ path: 'schema.prisma', content }],
});
