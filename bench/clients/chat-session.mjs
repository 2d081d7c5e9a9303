import { silence } from '../stage/script.mjs';
import { openGraphqlSocket } from './graphql-socket.mjs';
import { createSocketPool } from './socket-pool.mjs';
import { scanMessage } from './tokens.mjs';

const create = 'mutation Create($input: CreateChatSessionInput!) { createChatSession(input: $input) { id } }';

/** What a client needs that shows the reply as it comes and resumes after a cut; the end as the other peers tell it. */
const stream = `subscription Stream($input: StreamInput!) {
  stream(input: $input) {
    __typename
    ... on TurnEvent { turnId cursor }
    ... on TextDelta { messageId delta }
    ... on StepCompleted { usage { inputTokens outputTokens } costUsd }
    ... on TurnCompleted { response { finishReason message { id } } }
    ... on TurnFailed { error { code } }
  }
}`;
const follow = `subscription Follow($id: ID!) {
  turnEvents(turnId: $id) { __typename ... on TurnEvent { turnId cursor } ... on TextDelta { messageId delta } }
}`;

/** Speaks with this product: everything over WebSockets, a turn is one `stream` subscription. */
export const chatSessionClient = (settings) => (url) => {
  const sockets = createSocketPool(() => openGraphqlSocket(url));
  async function createSession(socket) {
    let id;
    await socket.run({ query: create, variables: { input: settings } }, (data) => {
      id = JSON.parse(data).payload.data.createChatSession.id;
    });
    return id;
  }
  const ask = (socket, sessionId) => (message, onToken) =>
    socket.run({ query: stream, variables: { input: { sessionId, message } } }, (data) => {
      scanMessage(data, onToken);
      if (data.includes('"errors"') || data.includes('"TurnFailed"')) throw new Error(String(data));
    });
  /** The id of a turn that waits for a token that never comes. */
  const startSilentTurn = async () => {
    const socket = await sockets.open();
    const sessionId = await createSession(socket);
    return new Promise((resolve, reject) => {
      const variables = { input: { sessionId, message: silence } };
      socket
        .run({ query: stream, variables }, (data) => resolve(JSON.parse(data).payload.data.stream.turnId))
        .catch(reject);
    });
  };
  let silentTurn;
  return {
    async open() {
      const socket = await sockets.open();
      const id = await createSession(socket);
      return { id, ask: ask(socket, id) };
    },
    async watch({ perSocket }) {
      silentTurn ??= startSilentTurn();
      const variables = { id: await silentTurn };
      const socket = await sockets.share(perSocket);
      await new Promise((resolve, reject) => {
        socket.run({ query: follow, variables }, resolve).then(reject, reject);
      });
    },
    close: () => sockets.close(),
  };
};
