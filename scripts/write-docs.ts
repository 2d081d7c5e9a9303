// npm run docs         writes the documents that are made from the code
// npm run docs:check   fails when a file and the code have parted

import { readFile, writeFile } from 'node:fs/promises';
import { pages } from './docs/pages.js';

const check = process.argv.includes('--check');
const stale: string[] = [];
for (const [path, content] of Object.entries(pages)) {
  const file = new URL(`../${path}`, import.meta.url);
  if (!check) await writeFile(file, content);
  else if ((await readFile(file, 'utf8').catch(() => '')) !== content) stale.push(path);
}
if (stale.length > 0) {
  console.error(`${stale.join(', ')} differ from the code: run \`npm run docs\` and commit the files.`);
  process.exit(1);
}
if (check) console.log('The documents agree with the code.');
