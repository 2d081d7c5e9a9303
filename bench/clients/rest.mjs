import { createHttp } from './http.mjs';
import { createTokenScanner } from './tokens.mjs';

/**
 * Speaks with a server that answers POST /sessions/:id/messages with a stream.
 *
 * @param bodyOf makes the body of a message
 */
export const restClient = (bodyOf) => (url) => {
  const http = createHttp();
  const createSession = async () => (await http.json('POST', `${url}/sessions`, {})).id;
  return {
    async open() {
      const id = await createSession();
      return {
        id,
        ask: (text, onToken) =>
          http.stream('POST', `${url}/sessions/${id}/messages`, bodyOf(text), createTokenScanner(onToken)),
      };
    },
    /** One connection for each: there is no other way. */
    async watch() {
      await http.listen(`${url}/sessions/${await createSession()}/events`);
    },
    close: () => http.close(),
  };
};
