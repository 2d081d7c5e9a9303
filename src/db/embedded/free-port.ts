import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** A TCP port of 127.0.0.1 that was free a moment ago; another process may still be faster. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
