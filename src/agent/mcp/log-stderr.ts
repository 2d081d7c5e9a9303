import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { Logger } from 'pino';

/** Characters of a line that are logged; the rest of it is not even kept. */
const longestLine = 500;

/** Reads what a child says on standard error, so that it never waits for a reader, into the log of level debug. */
export function logStderr(stderr: Readable, log: Logger, mcpServer: string): void {
  stderr.on('error', () => {});
  if (!log.isLevelEnabled('debug')) {
    stderr.resume();
    return;
  }
  const decoder = new StringDecoder('utf8');
  let line = '';
  const flush = () => {
    if (line.trim() !== '')
      log.debug({ mcpServer, stderr: line.slice(0, longestLine) }, 'an MCP server wrote to stderr');
    line = '';
  };
  stderr.on('data', (bytes: Buffer) => {
    const [first = '', ...others] = decoder.write(bytes).split('\n');
    line = (line + first).slice(0, longestLine);
    for (const next of others) {
      flush();
      line = next.slice(0, longestLine);
    }
  });
  stderr.once('end', flush);
}
