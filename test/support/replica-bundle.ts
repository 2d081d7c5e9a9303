import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** Two levels under the root, as the compiled server is, so that it finds its migrations. */
const folder = join(root, '.replica');
const staleAfterMs = 3_600_000;

async function digestOf(places: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const place of places) {
    const names = (await stat(join(root, place))).isDirectory()
      ? (await readdir(join(root, place), { recursive: true })).filter((name) => name.endsWith('.ts')).sort()
      : [''];
    for (const name of names) hash.update(name).update(await readFile(join(root, place, name)));
  }
  return hash.digest('hex').slice(0, 16);
}

async function bundle(into: string): Promise<void> {
  // As in vitest.config.ts: graphql must be there once.
  const graphql = createRequire(import.meta.url).resolve('graphql');
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    resolve: { alias: [{ find: /^graphql$/, replacement: graphql }] },
    ssr: { noExternal: true },
    build: {
      ssr: fileURLToPath(new URL('replica-main.ts', import.meta.url)),
      outDir: into,
      target: 'node20',
      minify: false,
    },
  });
}

async function removeStale(): Promise<void> {
  for (const name of await readdir(folder)) {
    const place = join(folder, name);
    const { mtimeMs } = await stat(place).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > staleAfterMs) await rm(place, { recursive: true, force: true });
  }
}

async function findOrMake(): Promise<string> {
  const target = join(folder, await digestOf(['src', 'test/support', 'package-lock.json']));
  const entry = join(target, 'replica-main.js');
  if (await stat(entry).catch(() => null)) return entry;
  const draft = `${target}-${process.pid}`;
  await mkdir(folder, { recursive: true });
  await bundle(draft);
  // Another worker may have been faster; its bundle is the same.
  await rename(draft, target).catch(() => rm(draft, { recursive: true, force: true }));
  await removeStale();
  return entry;
}

let made: Promise<string> | null = null;

/**
 * The path of replica-main with the server and all libraries in one file, made once for each state of the sources: it
 * starts in half the time of the compiled server, and in a third of the time of tsx.
 */
export function replicaBundle(): Promise<string> {
  made ??= findOrMake();
  return made;
}
