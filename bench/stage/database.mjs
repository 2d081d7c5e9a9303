import pg from 'pg';

const byDatabase = 'JOIN pg_database d ON d.oid = s.dbid AND d.datname = $1';

async function hasStatistics(admin) {
  const { rows } = await admin.query("SELECT 1 FROM pg_extension WHERE extname = 'pg_stat_statements'");
  return rows.length > 0;
}

/** A database of its own for one server, made new, and what Postgres has counted in it. */
export async function createDatabase(serverUrl, name) {
  const admin = new pg.Client({ connectionString: serverUrl });
  await admin.connect();
  await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await admin.query(`CREATE DATABASE ${name}`);
  const counts = await hasStatistics(admin);
  const url = Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href;
  return {
    url,
    /** Statements so far, BEGIN and COMMIT included; NaN when the server does not count them. */
    async statements() {
      if (!counts) return Number.NaN;
      const { rows } = await admin.query(`SELECT sum(calls)::int AS calls FROM pg_stat_statements s ${byDatabase}`, [
        name,
      ]);
      return rows[0].calls ?? 0;
    },
    /** Runs work on a connection of its own. */
    async use(work) {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      try {
        return await work(client);
      } finally {
        await client.end();
      }
    },
    async drop() {
      await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await admin.end();
    },
  };
}
