import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Deferred, deferred } from './deferred.js';
import { historyProblems } from './history.js';
import { resetSocket } from './reset-socket.js';
import { flatten, reply, type Script, type Step } from './script.js';

/** One message of a request, as it came over the wire. */
export interface WireMessage {
  readonly role: string;
  readonly content: unknown;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { name: string; arguments: string } }[];
  readonly tool_call_id?: string;
}

/** What the provider has said, as far as its script was made of chunks. */
export interface SentAnswer {
  text: string;
  /** The last usage object that was no null. */
  usage: unknown;
  finishReason: unknown;
  /** Whether the answer was told to its end, and not cut. */
  isWhole: boolean;
}

/** A chat completion request that the provider received. */
export interface RecordedRequest {
  /** From 0, in the order of arrival. */
  readonly index: number;
  readonly body: { readonly model: string; readonly messages: readonly WireMessage[] } & Readonly<
    Record<string, unknown>
  >;
  readonly byteLength: number;
  readonly headers: http.IncomingHttpHeaders;
  /** What has been written of the answer so far. */
  readonly sent: SentAnswer;
  /** Milliseconds of performance.now(). */
  readonly receivedAt: number;
  /** Number of the connection it came over. */
  readonly connection: number;
  /** Resolves when the client has closed the connection before the answer was complete. */
  readonly hungUp: Promise<void>;
  /** Whether that has happened by now. */
  readonly isHungUp: () => boolean;
  /** Resolves when the answer was complete, cut by the script, or abandoned by the client. */
  readonly ended: Promise<void>;
}

export type Answer = (request: RecordedRequest) => Script | undefined | Promise<Script | undefined>;

export interface ScriptedProvider {
  /** Base URL, ending in /v1. */
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  /** What a strict provider would have refused in any prompt. Empty in a correct product. */
  readonly violations: readonly string[];
  /** Resolves with the request of this index as soon as it has arrived. */
  request(index: number): Promise<RecordedRequest>;
  /** Scripts for the requests to come, one each. */
  enqueue(...scripts: readonly Script[]): void;
  /** Answers the requests that find no queued script; undefined leaves it to the echo. */
  onRequest(answer: Answer): void;
  /** Open connections of clients. */
  readonly connectionCount: number;
  close(): Promise<void>;
}

/** The text of the last user message, which a test can find its turn by. */
export function lastUserText({ body }: Pick<RecordedRequest, 'body'>): string {
  const content = body.messages.findLast((message) => message.role === 'user')?.content;
  const parts = Array.isArray(content) ? (content as { type: string; text?: string }[]) : [];
  return typeof content === 'string' ? content : parts.map((part) => part.text ?? '').join('');
}

/** "echo: <last user text>" with usage, the answer of a provider that was told nothing. */
function echo(request: RecordedRequest): Script {
  const said = lastUserText(request);
  return reply(`echo: ${said}`, { usage: { prompt: 10 + said.length, completion: 5 + said.length } });
}

/**
 * Starts an OpenAI-compatible provider over real HTTP on a free loopback port. Each request is answered by the next
 * queued script, else by `onRequest`, else by an echo.
 */
export async function startProvider(): Promise<ScriptedProvider> {
  const requests: RecordedRequest[] = [];
  const violations: string[] = [];
  const queue: Script[] = [];
  const waiting = new Map<number, Deferred<RecordedRequest>>();
  const connections = new Map<Socket, number>();
  let connectionTotal = 0;
  let answer: Answer = () => undefined;

  async function complete(incoming: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const bytes = Buffer.concat(parts);
    const hungUp = deferred();
    const ended = deferred();
    let gone = false;
    const playing: Playing = { response, socket: incoming.socket, closed: ended.promise, cutByScript: false };
    response.once('close', () => {
      if (!response.writableFinished && !playing.cutByScript) {
        gone = true;
        hungUp.resolve();
      }
      ended.resolve();
    });
    const request: RecordedRequest = {
      index: requests.length,
      body: JSON.parse(bytes.toString('utf8')) as RecordedRequest['body'],
      byteLength: bytes.length,
      headers: incoming.headers,
      sent: { text: '', usage: undefined, finishReason: null, isWhole: false },
      receivedAt: performance.now(),
      connection: connections.get(incoming.socket) ?? -1,
      hungUp: hungUp.promise,
      isHungUp: () => gone,
      ended: ended.promise,
    };
    requests.push(request);
    violations.push(...historyProblems(request.body.messages).map((problem) => `request ${request.index}: ${problem}`));
    waiting.get(request.index)?.resolve(request);
    const script = queue.shift() ?? (await answer(request)) ?? echo(request);
    await play(flatten(script), playing, request);
  }

  const server = http.createServer((incoming, response) => {
    if (incoming.method === 'POST' && incoming.url === '/v1/chat/completions') {
      complete(incoming, response).catch((error: unknown) => {
        violations.push(`the provider could not read a request: ${String(error)}`);
        response.destroy();
      });
      return;
    }
    const isModels = incoming.method === 'GET' && incoming.url === '/v1/models';
    response.writeHead(isModels ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isModels ? { object: 'list', data: [] } : { error: { message: 'no such path' } }));
  });
  server.keepAliveTimeout = 60_000;
  server.on('connection', (socket) => {
    connections.set(socket, connectionTotal++);
    socket.setNoDelay(true);
    socket.once('close', () => connections.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    violations,
    request(index) {
      const there = requests[index];
      if (there) return Promise.resolve(there);
      const waiter = waiting.get(index) ?? deferred<RecordedRequest>();
      waiting.set(index, waiter);
      return waiter.promise;
    },
    enqueue(...scripts) {
      queue.push(...scripts);
    },
    onRequest(next) {
      answer = next;
    },
    get connectionCount() {
      return connections.size;
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of connections.keys()) socket.destroy();
      await closed;
    },
  };
}

interface Playing {
  readonly response: http.ServerResponse;
  readonly socket: Socket;
  /** Resolves when the response is over, whoever ended it. */
  readonly closed: Promise<void>;
  cutByScript: boolean;
}

async function play(steps: readonly Step[], playing: Playing, request: RecordedRequest): Promise<void> {
  const { response, socket, closed } = playing;
  const streamHeaders = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };
  for (const step of steps) {
    if (response.destroyed) return;
    switch (step.do) {
      case 'headers':
        response.writeHead(step.status, { ...streamHeaders, ...step.headers });
        response.flushHeaders();
        break;
      case 'write':
      case 'chunk': {
        if (!response.headersSent) response.writeHead(200, streamHeaders);
        await write(playing, step.do === 'write' ? step.bytes : encode(step.chunk, request), step.bytewise);
        if (step.do === 'chunk') record(step.chunk, request.sent);
        break;
      }
      case 'wait': {
        let timer: NodeJS.Timeout | undefined;
        const timeUp = new Promise((resolve) => {
          timer = setTimeout(resolve, step.ms);
        });
        await Promise.race([timeUp, closed]);
        clearTimeout(timer);
        break;
      }
      case 'pause':
        step.reached?.();
        await Promise.race([step.until, closed]);
        break;
      case 'respond':
        response.writeHead(step.status, { ...step.headers });
        response.end(step.body);
        return;
      case 'cutFin':
        if (!response.headersSent) response.writeHead(200, streamHeaders);
        response.end();
        return;
      case 'cutConnection':
        playing.cutByScript = true;
        socket.end();
        return;
      case 'reset':
        playing.cutByScript = true;
        resetSocket(socket);
        return;
    }
  }
  if (response.destroyed) return;
  if (!response.headersSent) response.writeHead(200, streamHeaders);
  response.end('data: [DONE]\n\n');
  request.sent.isWhole = true;
}

function record(chunk: Readonly<Record<string, unknown>>, sent: SentAnswer): void {
  const [choice] = (chunk.choices ?? []) as { delta?: { content?: unknown }; finish_reason?: unknown }[];
  if (typeof choice?.delta?.content === 'string') sent.text += choice.delta.content;
  sent.finishReason = choice?.finish_reason ?? sent.finishReason;
  sent.usage = chunk.usage ?? sent.usage;
}

function encode(fields: Readonly<Record<string, unknown>>, request: RecordedRequest): Buffer {
  const whole = {
    id: `chatcmpl-scripted-${request.index}`,
    object: 'chat.completion.chunk',
    created: 1_764_460_800,
    model: request.body.model,
    choices: [],
    ...fields,
  };
  return Buffer.from(`data: ${JSON.stringify(whole)}\n\n`);
}

async function write({ response, closed }: Playing, bytes: Buffer, bytewise: boolean): Promise<void> {
  const parts = bytewise ? Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)) : [bytes];
  for (const part of parts) {
    if (response.destroyed) return;
    if (!response.write(part)) {
      await Promise.race([new Promise((resolve) => response.once('drain', resolve)), closed]);
    }
    // Gives the client's side of the event loop a turn, so that it reads this byte alone.
    if (bytewise) await new Promise((resolve) => setImmediate(resolve));
  }
}
