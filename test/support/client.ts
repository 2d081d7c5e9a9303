import { gql, gqlData, type HttpOptions } from '../clients/http.js';
import type { Result } from '../clients/results.js';
import { sseClient, subscribeSse } from '../clients/sse.js';
import { subscribe, wsClient } from '../clients/ws.js';
import * as documents from './documents.js';

// biome-ignore lint/suspicious/noExplicitAny: what a test reads from an answer is its own business.
type Json = any;

/** What a frontend does with a session, over real sockets. */
export interface ChatClient {
  createSession(input?: Record<string, unknown>): Promise<string>;
  /** The ChatResponse; throws when there are errors. */
  send(sessionId: string, message: string, more?: Record<string, unknown>): Promise<Json>;
  /** The whole result of a send, errors included. */
  trySend(sessionId: string, message: string, more?: Record<string, unknown>): Promise<Result>;
  session(id: string): Promise<Json>;
  seed(sessionId: string, messages: readonly Record<string, unknown>[]): Promise<Result>;
  /** All of the session's turns, or one. */
  stop(sessionId: string, turnId?: string): Promise<Json>;
  /** Id of the new session; throws when there are errors. */
  fork(sessionId: string, more?: Record<string, unknown>): Promise<string>;
  /** The ChatResponse; throws when there are errors. */
  regenerate(sessionId: string, clientMessageId?: string): Promise<Json>;
  run(document: string, variables?: Record<string, unknown>): Promise<Result>;
}

export function chatClient(url: string, options: HttpOptions = {}): ChatClient {
  const endpoint = `${url}/graphql`;
  const run = async (document: string, variables: Record<string, unknown> = {}) =>
    (await gql(endpoint, document, variables, options)).body;
  const data = (document: string, variables: Record<string, unknown>) =>
    gqlData(endpoint, document, variables, options);
  return {
    run,
    createSession: async (input = {}) => (await data(documents.createSession, { input })).createChatSession.id,
    send: async (sessionId, message, more = {}) =>
      (await data(documents.send, { input: { sessionId, message, ...more } })).send,
    trySend: (sessionId, message, more = {}) => run(documents.send, { input: { sessionId, message, ...more } }),
    session: async (id) => (await data(documents.session, { id })).chatSession,
    seed: (sessionId, messages) => run(documents.seed, { input: { sessionId, messages } }),
    fork: async (sessionId, more = {}) =>
      (await data(documents.fork, { input: { sessionId, ...more } })).forkChatSession.id,
    regenerate: async (sessionId, clientMessageId) =>
      (await data(documents.regenerate, { input: { sessionId, clientMessageId } })).regenerate,
    stop: async (sessionId, turnId) => (await data(documents.stop, { sessionId, turnId })).stop,
  };
}

/** What a subscription was answered in place of an event. */
export class ResultError extends Error {
  override readonly name = 'ResultError';

  constructor(readonly errors: NonNullable<Result['errors']>) {
    super(JSON.stringify(errors));
  }

  /** Whether the server says that the same again may help. */
  get isRetryable(): boolean {
    return this.errors.every(({ extensions }) => extensions?.retryable === true);
  }
}

/** A subscription as a frontend sees it, the same over both transports. */
export interface EventStream {
  /** The next event of the turn; null after the end. Throws when the result has errors. */
  next(): Promise<Json>;
  /** Every event until the end. */
  rest(): Promise<Json[]>;
  /** The next event for which the test holds. */
  until(test: (event: Json) => boolean): Promise<Json>;
  leave(): void;
}

export type Transport = 'ws' | 'sse';

/** Opens one subscription over a connection of its own. */
export function openEvents(
  url: string,
  transport: Transport,
  document: string,
  variables: Record<string, unknown>,
): EventStream {
  const endpoint = `${url}/graphql`;
  const client = transport === 'ws' ? wsClient(endpoint) : sseClient(endpoint);
  const subscription =
    transport === 'ws'
      ? subscribe(client as ReturnType<typeof wsClient>, document, variables)
      : subscribeSse(client as ReturnType<typeof sseClient>, document, variables);
  const next = async () => {
    const result = await subscription.next();
    if (result === null) {
      await client.dispose();
      return null;
    }
    if (result.errors) throw new ResultError(result.errors);
    return Object.values(result.data)[0];
  };
  const rest = async () => {
    const all: Json[] = [];
    for (let event = await next(); event !== null; event = await next()) all.push(event);
    return all;
  };
  return {
    next,
    rest,
    async until(test) {
      for (let event = await next(); event !== null; event = await next()) if (test(event)) return event;
      throw new Error('the stream ended before the event came');
    },
    leave() {
      subscription.leave();
      void client.dispose();
    },
  };
}

/** Sends a message and streams its turn. */
export const openTurn = (
  url: string,
  transport: Transport,
  sessionId: string,
  message: string,
  more: Record<string, unknown> = {},
): EventStream => openEvents(url, transport, documents.stream, { input: { sessionId, message, ...more } });

/** The text that a client has put together from a turn's events. */
export const textOf = (events: readonly Json[]): string =>
  events
    .filter((event) => event.__typename === 'TextDelta')
    .map((event) => event.delta)
    .join('');
