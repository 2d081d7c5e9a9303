import { once } from 'node:events';
import { WebSocket } from 'ws';

/** A WebSocket that speaks graphql-transport-ws, with as little work of its own as can be. */
export async function openGraphqlSocket(url) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
    perMessageDeflate: false,
  });
  await once(socket, 'open');
  socket.send('{"type":"connection_init"}');
  await once(socket, 'message');
  const operations = new Map();
  let started = 0;
  socket.on('message', (data) => {
    const head = data.toString('latin1', 0, 40);
    const id = /"id":"(\d+)"/.exec(head)?.[1];
    operations.get(id)?.(data, head);
  });
  return {
    /**
     * Starts an operation and hands on its messages, as they came.
     *
     * @returns what resolves when the operation completes
     */
    run(payload, onMessage) {
      started += 1;
      const id = String(started);
      socket.send(JSON.stringify({ id, type: 'subscribe', payload }));
      return new Promise((resolve, reject) => {
        operations.set(id, (data, head) => {
          try {
            if (head.includes('"next"')) onMessage(data);
            else if (head.includes('"complete"')) resolve(operations.delete(id));
            else throw new Error(String(data));
          } catch (error) {
            reject(error);
          }
        });
      });
    },
    close: () => socket.terminate(),
  };
}
