import { defineConfig } from 'prisma/config';

// Every Prisma command first tries to download a schema-engine binary. `generate`, `validate` and `format` never use it,
// and any existing executable satisfies the check, so this keeps them working without a network.
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath;

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
});
