import { mkdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { startChild } from './child.mjs';
import { createDatabase } from './database.mjs';
import { freePort } from './free-port.mjs';

const pathOf = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const logs = pathOf('../results/logs');

/** Everything one peer is measured with, made new: its database, a provider, its server. */
export async function setStage(peer, { postgresUrl }) {
  await mkdir(logs, { recursive: true });
  const database = await createDatabase(postgresUrl, `bench_${peer.name}`);
  if (peer.tables) {
    const tables = await readFile(peer.tables, 'utf8');
    await database.use((client) => client.query(tables));
  }
  const [providerPort, port] = [await freePort(), await freePort()];
  const provider = await startChild([pathOf('./provider.mjs')], {
    env: { PORT: providerPort },
    errorFile: `${logs}/provider.log`,
    isReady: (text) => text.includes('ready'),
  });
  const server = await startChild(['--expose-gc', '--import', pathOf('./probe.mjs'), peer.server], {
    env: {
      PORT: port,
      ...peer.environment({ providerUrl: `http://127.0.0.1:${providerPort}/v1`, databaseUrl: database.url }),
    },
    errorFile: `${logs}/${peer.name}.log`,
    isReady: (text) => text.includes('ready'),
  }).catch(async (error) => {
    await provider.kill();
    throw error;
  });
  return {
    peer,
    database,
    provider,
    server,
    url: `http://127.0.0.1:${port}`,
    async strike() {
      await server.kill();
      await provider.kill();
      await database.drop();
    },
  };
}
