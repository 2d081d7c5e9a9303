import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { type Client, type ClientOptions, createClient } from 'graphql-sse';
import { createInbox, type Inbox, type Result } from './results.js';
import type { Subscription } from './ws.js';

/** The stock client, one connection for each operation. */
export const sseClient = (url: string, options: Partial<ClientOptions<false>> = {}): Client =>
  createClient({ url, retryAttempts: 0, ...options });

/** One operation over the stock client. */
export function subscribeSse(client: Client, query: string, variables?: Record<string, unknown>): Subscription {
  const inbox: Inbox<Result> = createInbox();
  const leave = client.subscribe(variables ? { query, variables } : { query }, {
    next: (result) => inbox.put(result as Result),
    error: (error) => inbox.end(error instanceof Error ? error : new Error(JSON.stringify(error), { cause: error })),
    complete: () => inbox.end(),
  });
  return { next: inbox.take, rest: inbox.rest, waiting: inbox.waiting, leave };
}

export interface StreamEvent {
  readonly event: string;
  readonly data: string;
}

export interface RawStream {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** The next event; null after the end of the stream. */
  next(): Promise<StreamEvent | null>;
  /** The result in the next event, which must be a `next`. */
  nextResult(): Promise<Result>;
  /** Every event until the end. */
  rest(): Promise<StreamEvent[]>;
  /** Comment lines so far: the keep-alive. */
  readonly comments: number;
  nextComment(): Promise<void>;
  pause(): void;
  resume(): void;
  /** Drops the connection without a word. */
  drop(): void;
  readonly ended: Promise<void>;
}

/** A reader of event streams on a bare connection, which can stop reading and drop it. */
export async function openStream(
  url: string,
  query: string,
  variables?: Record<string, unknown>,
  headers: Record<string, string> = {},
): Promise<RawStream> {
  const outgoing = request(url, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
  });
  outgoing.on('error', () => {
    // Dropping the connection is an error of the request; what matters is `ended`.
  });
  outgoing.end(JSON.stringify({ query, variables }));
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const inbox: Inbox<StreamEvent> = createInbox();
  const commentListeners = new Set<() => void>();
  let comments = 0;
  let rest = '';
  response.setEncoding('utf8');
  response.on('data', (text: string) => {
    const blocks = (rest + text).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map<string, string>();
      for (const line of block.split('\n')) {
        const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
        fields.set(name, value);
      }
      if (fields.has('event') || fields.has('data')) {
        inbox.put({ event: fields.get('event') ?? 'message', data: fields.get('data') ?? '' });
      } else {
        comments += 1;
        for (const listener of commentListeners) {
          listener();
        }
      }
    }
  });
  response.on('error', () => {
    // As above.
  });
  const ended = new Promise<void>((resolve) => {
    response.once('close', () => {
      inbox.end();
      resolve();
    });
  });
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    next: inbox.take,
    async nextResult() {
      const event = await inbox.take();
      if (event?.event !== 'next') {
        throw new Error(`a result was due, but there came ${JSON.stringify(event)}`);
      }
      return JSON.parse(event.data) as Result;
    },
    rest: inbox.rest,
    get comments() {
      return comments;
    },
    nextComment: () =>
      new Promise((resolve) => {
        const listener = () => {
          commentListeners.delete(listener);
          resolve();
        };
        commentListeners.add(listener);
      }),
    pause: () => response.pause(),
    resume: () => response.resume(),
    drop: () => outgoing.destroy(),
    ended,
  };
}
