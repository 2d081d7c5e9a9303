import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the range from which systems give ports to outgoing connections (32768 on Linux, 49152 elsewhere). */
const lowest = 12_000;
const highest = 32_000;

/**
 * A free port of loopback that stays free while nobody listens on it: no outgoing connection is given it by chance, so a
 * server can be ended and started again under its old address.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(lowest, highest);
    const server = createServer();
    try {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      server.close();
      await once(server, 'close');
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}
