// npm run schema         writes schema.graphql from the code
// npm run schema:check   fails when the file and the code have parted
//
// The file is sorted, so that a change of the schema is a change of the lines it concerns and nothing else.

import { readFile, writeFile } from 'node:fs/promises';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { buildSchema } from '../src/graphql/schema.js';

const file = new URL('../schema.graphql', import.meta.url);
const header = '# Printed from the code by `npm run schema`. Do not edit.\n\n';
const printed = `${header}${printSchema(lexicographicSortSchema(buildSchema()))}\n`;

if (process.argv.includes('--check')) {
  const stored = await readFile(file, 'utf8').catch(() => '');
  if (stored !== printed) {
    console.error('schema.graphql differs from the code: run `npm run schema` and commit the file.');
    process.exit(1);
  }
  console.log('schema.graphql agrees with the code.');
} else {
  await writeFile(file, printed);
}
