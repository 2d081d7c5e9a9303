import os from 'node:os';
import pg from 'pg';

/** One sentence on what a run ran on. */
export async function describeMachine(postgresUrl, rounds) {
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  const { rows } = await client.query('SHOW server_version');
  await client.end();
  const cores = os.cpus();
  const memory = Math.round(os.totalmem() / 2 ** 30);
  const day = new Date().toISOString().slice(0, 10);
  return `${day}: ${cores.length} cores (${cores[0].model}), ${memory} GiB, Node ${process.versions.node}, PostgreSQL ${rows[0].server_version.split(' ')[0]}; rounds: ${rounds}.`;
}
