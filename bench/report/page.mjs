import { readFile, writeFile } from 'node:fs/promises';

const page = new URL('../../docs/performance.md', import.meta.url);
const begin = '<!-- Written by `npm run bench`. Do not edit between the markers. -->';
const end = '<!-- End of what is written. -->';

/** Puts the tables of a whole run into docs/performance.md, between its markers. */
export async function writePage(text) {
  const before = await readFile(page, 'utf8');
  const from = before.indexOf(begin);
  const to = before.indexOf(end);
  if (from < 0 || to < from) throw new Error('docs/performance.md has lost its markers');
  await writeFile(page, `${before.slice(0, from + begin.length)}\n\n${text}\n${before.slice(to)}`);
}
