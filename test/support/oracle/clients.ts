import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { gql } from '../../clients/http.js';
import { openEvents, ResultError, type Transport } from '../client.js';
import * as documents from '../documents.js';
import type { Recorder } from './recorder.js';
import type { SeenEvent } from './run.js';
import { isTerminalEvent } from './view.js';

/** Clients that keep trying, as good ones do, and note what they are told. */
export interface ClientOptions {
  readonly recorder: Recorder;
  /** A server, without a path; asked for anew at every attempt. */
  readonly where: () => string;
  /** Ends all attempts. */
  readonly signal: AbortSignal;
}

export interface FollowOptions extends ClientOptions {
  readonly name: string;
  readonly transport: Transport;
  readonly onEvent?: (event: SeenEvent) => void;
}

const pauseMs = 50;

async function pauseOrThrow(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await sleep(pauseMs, undefined, { signal });
}

/** Refusals that say nothing of the turn that was asked for: their `turnId` is another one's. */
const refusals = new Set(['TURN_IN_PROGRESS', 'INPUT_PENDING', 'IDEMPOTENCY_KEY_REUSED']);

/** How a message ended for the client that sent it. `code` is OK, or that of the error it got. */
export interface Said {
  readonly turnId: string | null;
  readonly code: string;
}

/**
 * Sends a message and awaits its reply, under one key and again whenever the answer is lost or the server is not there.
 * `text` must be one that no other message of the run has.
 */
export async function say(
  { recorder, where, signal }: ClientOptions,
  sessionId: string,
  text: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Said> {
  const message = recorder.sending(sessionId, text);
  const input = { sessionId, message: text, clientMessageId: randomUUID(), ...more };
  for (;;) {
    const answer = await gql(`${where()}/graphql`, documents.send, { input }, { signal }).catch(() => null);
    const turnId = answer?.body.data?.send?.turn.id as string | undefined;
    if (turnId !== undefined) {
      message.acknowledged(turnId);
      return { turnId, code: 'OK' };
    }
    const extensions = answer?.body.errors?.[0]?.extensions;
    const code = extensions?.code ?? 'UNAVAILABLE';
    const told = typeof extensions?.turnId === 'string' && !refusals.has(code) ? extensions.turnId : null;
    if (told !== null) message.acknowledged(told);
    if (code !== 'UNAVAILABLE') return { turnId: told, code };
    await pauseOrThrow(signal);
  }
}

interface Following {
  readonly document: string;
  readonly variables: (after: string | null) => Record<string, unknown>;
  readonly onEvent?: (event: SeenEvent) => void;
  /** Asked after each event: nothing more is wanted. */
  readonly isEnough?: (event: SeenEvent) => boolean;
}

/** Reads one connection until the server says that there is nothing more, or enough has come. */
async function readOnce(
  { where, transport, signal }: FollowOptions,
  { document, variables, isEnough }: Following,
  after: string | null,
  took: (event: SeenEvent) => void,
): Promise<'completed' | 'enough'> {
  const stream = openEvents(where(), transport, document, variables(after));
  const leave = () => stream.leave();
  signal.addEventListener('abort', leave, { once: true });
  try {
    for (let event = await stream.next(); event !== null; event = await stream.next()) {
      took(event);
      if (isEnough?.(event)) return 'enough';
    }
    signal.throwIfAborted();
    return 'completed';
  } finally {
    signal.removeEventListener('abort', leave);
    stream.leave();
  }
}

/** Goes on by cursor whenever it is cut: an error of the connection, or one that the server says will pass. */
async function follow(options: FollowOptions, following: Following, from: string | null = null): Promise<void> {
  const watch = options.recorder.watching(options.name);
  let after = from;
  const took = (event: SeenEvent) => {
    watch.took(event);
    after = event.cursor;
    following.onEvent?.(event);
    options.onEvent?.(event);
  };
  for (;;) {
    try {
      if ((await readOnce(options, following, after, took)) === 'completed') watch.completed();
      return;
    } catch (error) {
      if (error instanceof ResultError && !error.isRetryable) throw error;
    }
    await pauseOrThrow(options.signal);
  }
}

/** Follows a turn to its end. */
export function followTurn(options: FollowOptions, turnId: string): Promise<void> {
  return follow(options, { document: documents.turnEvents, variables: (after) => ({ turnId, after }) });
}

/** The place in its events at which a session stands. Asks again while it gets no answer. */
export async function readEventsCursor({ where, signal }: ClientOptions, sessionId: string): Promise<string> {
  for (;;) {
    const answer = await gql(`${where()}/graphql`, documents.eventsCursor, { id: sessionId }, { signal }).catch(
      () => null,
    );
    const cursor = answer?.body.data?.chatSession?.eventsCursor;
    if (typeof cursor === 'string') return cursor;
    await pauseOrThrow(signal);
  }
}

/**
 * Follows a session from a cursor until this many of its turns have ended; a function is asked at the end of each.
 * Without a cursor, turns that begin and end before the first connection holds would be missed.
 */
export function followSession(
  options: FollowOptions,
  { sessionId, from }: { readonly sessionId: string; readonly from: string },
  turns: number | (() => number),
): Promise<void> {
  let ended = 0;
  const following: Following = {
    document: documents.sessionEvents,
    variables: (after) => ({ sessionId, after }),
    onEvent: (event) => {
      if (isTerminalEvent(event)) ended += 1;
    },
    isEnough: () => ended === (typeof turns === 'number' ? turns : turns()),
  };
  return follow(options, following, from);
}

/** Sends a message and streams its turn to its end, under one key. Resolves with the turn's id. */
export async function sayAndFollow(
  options: FollowOptions,
  sessionId: string,
  text: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const message = options.recorder.sending(sessionId, text);
  const input = { sessionId, message: text, clientMessageId: randomUUID(), ...more };
  let turnId = '';
  await follow(options, {
    document: documents.stream,
    variables: (after) => ({ input: { ...input, after } }),
    onEvent: (event) => {
      turnId = event.turnId;
      message.acknowledged(turnId);
    },
  });
  return turnId;
}
