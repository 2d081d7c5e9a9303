// A process that starts a replica, tells its process id and then does nothing, as a test does that hangs. Run with tsx.

import { startReplica } from './replica.js';

const [databaseUrl = '', providerUrl = ''] = process.argv.slice(2);
const replica = await startReplica({ database: { url: databaseUrl }, provider: { url: providerUrl } });
process.stdout.write(`${replica.pid}\n`);
