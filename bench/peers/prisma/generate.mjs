// Generates the Prisma client of the GraphQL peers and makes plain JavaScript of it.
import { execFileSync } from 'node:child_process';
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const pathOf = (relative) => fileURLToPath(new URL(relative, import.meta.url));

execFileSync('prisma', ['generate', '--schema', pathOf('./schema.prisma')], {
  stdio: ['ignore', 'ignore', 'inherit'],
  env: {
    ...process.env,
    // Prisma starts the generator of Pothos by its bare name.
    PATH: `${pathOf('../../node_modules/.bin')}${delimiter}${process.env.PATH}`,
    // Prisma looks for an engine that `generate` never starts, and would download it. Any executable satisfies it.
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    CHECKPOINT_DISABLE: '1',
  },
});
await build({
  entryPoints: {
    client: pathOf('./generated/client/client.ts'),
    'pothos-types': pathOf('./generated/pothos-types.ts'),
  },
  outdir: pathOf('./generated/js'),
  outExtension: { '.js': '.mjs' },
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20',
});
