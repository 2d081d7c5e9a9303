// npm run generate
//
// Generates the Prisma client and the types for Pothos, unless they are those of this schema and these versions already:
// Prisma takes seconds even when there is nothing to do, and this runs before every build.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const at = (path: string) => new URL(`../${path}`, import.meta.url);

// package.json names the exact versions of both generators.
const sources = [at('prisma/schema.prisma'), at('prisma.config.ts'), at('package.json')];
const outputs = [at('src/db/generated/prisma/client.ts'), at('src/db/generated/pothos-types.ts')];
const prisma = createRequire(import.meta.url).resolve('prisma/build/index.js');
const stampFile = at('src/db/generated/.stamp');

const hash = createHash('sha256');
for (const source of sources) hash.update(readFileSync(source));
const stamp = hash.digest('hex');

const upToDate =
  outputs.every((output) => existsSync(output)) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp;

if (!upToDate) {
  execFileSync(process.execPath, [prisma, 'generate'], {
    cwd: fileURLToPath(at('.')),
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  writeFileSync(stampFile, stamp);
}
