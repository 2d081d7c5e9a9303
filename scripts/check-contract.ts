// npm run schema:contract -- [path]
//
// Holds schema.graphql against the contract that clients rely on. The schema may have more than the contract; it may not
// rename, loosen or retype anything. What it lacks has to stand in scripts/contract-allowances.ts. The path may also
// come as CONTRACT; without either, ../shared/contract.graphql is taken when it is there.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildSchema } from 'graphql';
import { absent } from './contract-allowances.js';
import { contractProblems } from './contract-problems.js';

const beside = fileURLToPath(new URL('../../shared/contract.graphql', import.meta.url));
const path = process.argv[2] ?? process.env.CONTRACT ?? (existsSync(beside) ? beside : null);

if (path === null) {
  console.log('schema.graphql was not held against a contract: give the path of one.');
} else {
  const read = (file: string | URL) => buildSchema(readFileSync(file, 'utf8'));
  const problems = contractProblems(
    read(new URL('../schema.graphql', import.meta.url)),
    read(path),
    Object.values(absent).flat(),
  );
  if (problems.length > 0) {
    console.error(['schema.graphql breaks the contract:', ...problems.map((problem) => `  ${problem}`)].join('\n'));
    process.exit(1);
  }
  console.log('schema.graphql keeps the contract.');
}
