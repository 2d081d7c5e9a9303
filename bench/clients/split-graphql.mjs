import { setTimeout as sleep } from 'node:timers/promises';
import { openGraphqlSocket } from './graphql-socket.mjs';
import { createHttp } from './http.mjs';
import { createSocketPool } from './socket-pool.mjs';
import { scanMessage } from './tokens.mjs';

const subscription = 'subscription Stream($id: ID!) { messageStream(sessionId: $id) { type delta message { id } } }';
const mutation = 'mutation Send($id: ID!, $content: String!) { sendMessage(sessionId: $id, content: $content) { id } }';

/** Nothing tells a client that its subscription is set up. */
const setUpMs = 20;

/**
 * Speaks with a GraphQL server as a split link does: a mutation over HTTP starts the turn, a subscription that was there
 * before delivers it.
 */
export function splitGraphqlClient(url) {
  const http = createHttp();
  const sockets = createSocketPool(() => openGraphqlSocket(url));
  async function post(query, variables) {
    const { data, errors } = await http.json('POST', `${url}/graphql`, { query, variables });
    if (errors) throw new Error(JSON.stringify(errors));
    return data;
  }
  const createSession = async () => (await post('mutation { createSession { id } }')).createSession.id;
  const follow = (socket, id, onMessage) => {
    socket.run({ query: subscription, variables: { id } }, onMessage).catch((error) => console.error(error));
    return sleep(setUpMs);
  };
  return {
    async open() {
      const id = await createSession();
      let turn = null;
      await follow(await sockets.open(), id, (data) => {
        scanMessage(data, turn.onToken);
        if (data.includes('"done"')) turn.end();
      });
      return {
        id,
        async ask(content, onToken) {
          const ended = new Promise((end) => {
            turn = { onToken, end };
          });
          await post(mutation, { id, content });
          await ended;
        },
      };
    },
    async watch({ perSocket }) {
      await follow(await sockets.share(perSocket), await createSession(), () => {});
    },
    close() {
      sockets.close();
      http.close();
    },
  };
}
