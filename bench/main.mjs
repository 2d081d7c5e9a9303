// Measures this product and its peers: npm run bench. README.md says what the options are.
import { mkdir, writeFile } from 'node:fs/promises';
import { readOptions } from './options.mjs';
import { aimsOf } from './report/aims.mjs';
import { describeMachine } from './report/machine.mjs';
import { writePage } from './report/page.mjs';
import { tablesOf } from './report/tables.mjs';
import { runRounds } from './rounds.mjs';
import { startPostgres } from './stage/postgres.mjs';

const { rounds, peers, workloads, postgresUrl, isWhole } = readOptions(process.argv.slice(2));
const results = new URL('./results/', import.meta.url);
await mkdir(results, { recursive: true });
const postgres = await startPostgres(postgresUrl);
// The clients and their servers end with this process; Postgres has to be told.
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => postgres.stop().finally(() => process.exit(1)));
}
try {
  const machine = await describeMachine(postgres.url, rounds);
  const say = (record) => console.error(JSON.stringify(record));
  const records = await runRounds({ rounds, peers, workloads, postgresUrl: postgres.url, say });
  const file = `${new Date().toISOString().replaceAll(':', '-')}.json`;
  await writeFile(new URL(file, results), JSON.stringify({ machine, records }, null, 1));
  const text = [machine, '', aimsOf(records), tablesOf(records, peers)].join('\n');
  console.log(text);
  if (isWhole) await writePage(text);
} finally {
  await postgres.stop();
}
