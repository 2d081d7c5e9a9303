// A little MCP server over stdio, in a process of its own. MCP_CONTROL is the port of its test. NOISE makes it write what
// is no message, STUBBORN makes it end by SIGKILL only, MUTE makes it read and never answer.

import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { createBehaviour } from './behaviour.js';

const { NOISE, STUBBORN, MUTE } = process.env;
const { tell, createServer } = createBehaviour();
if (STUBBORN !== undefined) {
  process.on('SIGTERM', () => {});
  setInterval(() => {}, 60_000);
}
if (NOISE !== undefined) {
  process.stderr.write('starting with key=hunter2-hunter2\n');
  process.stdout.write('Welcome!\n{"half":\n{"jsonrpc":"2.0","id":99999,"result":{}}\n\u0000\uffff\n[]\n');
}
tell({ event: 'started', env: Object.keys(process.env) });
if (MUTE === undefined) await createServer().connect(new StdioServerTransport());
else process.stdin.resume();
process.stdin.once('data', () => tell({ event: 'input' }));
