import OpenAI from 'openai';
import type { Logger } from 'pino';
import { createCompletionReader } from './completion.js';
import { type Deadlines, startDeadlines } from './deadlines.js';
import { createNodeFetch, type StreamedResponse } from './node-fetch.js';
import { ModelError, type ModelEvent, type ModelPort, type ModelRequest } from './port.js';
import { badResponse, toModelError } from './provider-error.js';
import { systemTimers, type Timers } from './timers.js';
import { toWireRequest } from './wire-request.js';

export interface OpenAiModelOptions {
  /** Null sends no Authorization header, which is what local servers want. */
  readonly apiKey: string | null;
  /** Null: OpenAI itself. */
  readonly baseUrl: string | null;
  /** Longest time without a chunk, from the request on, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** Longest time of a whole call, in milliseconds. */
  readonly totalTimeoutMs: number;
  readonly log: Logger;
  readonly timers?: Timers;
}

type Incoming = StreamedResponse['incoming'];

/** After the finish reason only usage may come; it is not worth an idle time. */
const trailerMs = 5_000;

/** How long a connection may take to end after [DONE] before it is closed rather than kept. */
const farewellMs = 1_000;

/**
 * The way to OpenAI and to every server that speaks its chat completions protocol. The SDK makes the request and its
 * errors; deadlines, retries and the reading of the stream are ours, for the reasons given there. Failures are told to
 * the caller, who logs them.
 *
 * @throws TypeError for a key that no header can carry
 */
export function createOpenAiModel(options: OpenAiModelOptions): ModelPort {
  const { apiKey, idleTimeoutMs, totalTimeoutMs, log, timers = systemTimers } = options;
  // Left to the SDK the message of its error would quote the key.
  if (apiKey !== null && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new TypeError('OPENAI_API_KEY has characters that an HTTP header cannot carry');
  }
  const baseURL = options.baseUrl ?? 'https://api.openai.com/v1';
  const isOpenAi = /(^|\.)(openai\.com|openai\.azure\.com)$/.test(new URL(baseURL).hostname);
  const client = new OpenAI({
    apiKey: apiKey ?? 'none',
    baseURL,
    // Named here so that the SDK does not look for them in the environment.
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    ...(apiKey === null ? { defaultHeaders: { Authorization: null } } : {}),
    fetch: createNodeFetch(),
    // Its retries would run behind the ledger's back, and 6.49 sleeps a long Retry-After through an abort.
    maxRetries: 0,
    // Ends with the headers at best; ours goes on.
    timeout: 2_147_483_647,
    logLevel: 'off',
  });

  /** The body of the reply; nothing else of request and response is kept while it streams. */
  async function open(request: ModelRequest, signal: AbortSignal): Promise<Incoming> {
    const response = await client.chat.completions
      .create(toWireRequest(request, isOpenAi), { signal, headers: { Accept: 'text/event-stream' } })
      .asResponse();
    return bodyOf(response as StreamedResponse);
  }

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void, undefined> {
    signal.throwIfAborted();
    const call = new AbortController();
    const abort = () => call.abort();
    signal.addEventListener('abort', abort, { once: true });
    const deadlines = startDeadlines({ idleMs: idleTimeoutMs, totalMs: totalTimeoutMs }, timers, abort);
    try {
      yield* readEvents(await open(request, call.signal), deadlines, signal);
    } catch (error) {
      signal.throwIfAborted();
      const failure = deadlines.expired
        ? new ModelError('PROVIDER_TIMEOUT', true, { deadline: deadlines.expired })
        : toModelError(error, Date.now());
      if (failure === null) throw error;
      if (isRedirect(failure))
        log.warn('the model provider redirects, which is not followed: set OPENAI_BASE_URL anew');
      throw failure;
    } finally {
      deadlines.clear();
      signal.removeEventListener('abort', abort);
    }
  }

  return { stream };
}

const isRedirect = ({ facts }: ModelError) => Number(facts.status) >= 300 && Number(facts.status) < 400;

/** @throws ModelError for a body that is no stream of events, whose connection is closed. */
function bodyOf({ incoming, headers }: StreamedResponse): Incoming {
  const contentType = headers.get('content-type') ?? '';
  const isEventStream = contentType === '' || /^text\/event-stream\b/i.test(contentType);
  if (isEventStream && /^(identity)?$/i.test(headers.get('content-encoding') ?? '')) return incoming;
  letGo(incoming, false);
  throw badResponse(isEventStream ? 'compressed stream' : 'not an event stream');
}

/** Reads a response to its end, or to the point where nothing more is expected of it, and lets go of the connection. */
async function* readEvents(
  incoming: Incoming,
  deadlines: Deadlines,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void, undefined> {
  const reader = createCompletionReader();
  try {
    try {
      for await (const bytes of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        const chunksBefore = reader.chunks;
        const events = reader.push(bytes);
        if (events.length > 0) {
          deadlines.hold();
          for (const event of events) {
            yield event;
            signal.throwIfAborted();
          }
        }
        if (reader.failure !== null) throw reader.failure;
        if (reader.isDone) break;
        // Bytes and comments alone are no sign of life: a proxy sends those for a provider that hangs.
        if (reader.chunks > chunksBefore) deadlines.touch();
        if (reader.isFinished) deadlines.shortenIdle(trailerMs);
      }
    } catch (error) {
      // The reply is whole once its finish reason was seen: a connection that breaks after it takes nothing away.
      if (signal.aborted || !reader.isFinished) throw error;
    }
    yield* reader.end();
    if (reader.failure !== null) throw reader.failure;
    yield* reader.result();
  } finally {
    letGo(incoming, reader.isDone);
  }
}

/** A finished body frees its connection for the next call; anything else closes it, so that the provider stops. */
function letGo(incoming: Incoming, isDone: boolean): void {
  if (!isDone && !incoming.complete) {
    incoming.destroy();
    return;
  }
  const timer = setTimeout(() => incoming.destroy(), farewellMs);
  timer.unref();
  incoming.once('close', () => clearTimeout(timer));
  incoming.resume();
}
