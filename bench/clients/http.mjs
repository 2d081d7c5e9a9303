import { once } from 'node:events';
import http from 'node:http';

/** A keep-alive HTTP client. Made anew for each workload, so that none starts on a connection about to be closed. */
export function createHttp() {
  const agent = new http.Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  async function open(method, url, body) {
    const payload = body === undefined ? '' : JSON.stringify(body);
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) };
    const request = http.request(url, { method, agent, headers }).end(payload);
    const [response] = await once(request, 'response');
    if (response.statusCode < 300) return response;
    throw new Error(`${url} answered ${response.statusCode}: ${await readAll(response)}`);
  }
  return {
    async json(method, url, body) {
      return JSON.parse(await readAll(await open(method, url, body)));
    },
    /** Reads a streamed answer to its end. */
    async stream(method, url, body, onData) {
      const response = await open(method, url, body);
      response.on('data', onData);
      await once(response, 'end');
    },
    /** Opens a stream that is only listened to. */
    async listen(url) {
      (await open('GET', url)).resume();
    },
    close: () => agent.destroy(),
  };
}

async function readAll(response) {
  const parts = [];
  for await (const part of response) parts.push(part);
  return Buffer.concat(parts).toString();
}
