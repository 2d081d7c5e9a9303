import { script } from '../stage/script.mjs';
import { memoryOf } from './memory.mjs';
import { ignoreToken, withClient } from './with-client.mjs';

const atATime = 50;

async function watchMany(client, count, perSocket) {
  for (let opened = 0; opened < count; opened += atATime) {
    await Promise.all(Array.from({ length: atATime }, () => client.watch({ perSocket })));
  }
}

/**
 * Subscriptions on which nothing happens.
 *
 * @param perSocket how many share a WebSocket, where the peer has WebSockets
 */
const idle = (stage, count, perSocket) =>
  withClient(stage, async (client) => {
    // Code and pools that are made once are no memory of a subscription.
    const { ask } = await client.open();
    await ask(script({ tokens: 1 }), ignoreToken);
    await watchMany(client, 200, perSocket);
    return memoryOf(count, stage, () => watchMany(client, count, perSocket));
  });

/** As many as the clients of a busy server have, ten on a socket: a list of sessions that shows what goes on. */
export const idleSubscriptions = async (stage) => ({ w5idle: await idle(stage, 10_000, 10) });

/** One on a socket. Ours takes 5,000 sockets. */
export const idleSockets = async (stage) => ({ w5socket: await idle(stage, 4_000, 1) });
