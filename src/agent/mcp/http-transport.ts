import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { FetchLike, Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ErrorCode, type JSONRPCMessage, type RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { HttpMcpServer } from '../../mcp-config.js';
import { brokenOff } from './call-failure.js';

/** As much as a child may say at once. */
const longestBody = 10 * 1_024 * 1_024;
/** How long the last bytes of a body may be on their way through the parser. */
const parsingMs = 100;
/** How long the end of the session may take to be told. */
const farewellMs = 1_000;

/** The request that a POST carries; null for anything else. */
function requestOf(init: RequestInit | undefined): RequestId | null {
  if (init?.method !== 'POST' || typeof init.body !== 'string') return null;
  const { id, method } = JSON.parse(init.body) as { id?: RequestId; method?: string };
  return method === undefined ? null : (id ?? null);
}

/** The body with a limit to its length, and word of its end, however it comes. */
function watched(body: ReadableStream<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let length = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        length += value?.byteLength ?? 0;
        if (length > longestBody) throw new Error('the answer is too long');
        if (!done) {
          controller.enqueue(value);
          return;
        }
        controller.close();
      } catch (error) {
        controller.error(error);
        await reader.cancel().catch(() => {});
      }
      onEnd();
    },
    async cancel(reason) {
      await reader.cancel(reason);
      onEnd();
    },
  });
}

/**
 * Speaks with an MCP server over streamable HTTP, by the SDK's transport. What that leaves open is seen to here: a
 * request whose answer breaks off, or ends without one, fails at once instead of when its time is up; a cancelled request
 * gives its connection back; answers have a limit.
 */
export class HttpTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #inner: StreamableHTTPClientTransport;
  /** Requests without an answer so far. */
  readonly #open = new Map<RequestId, AbortController>();
  /** Requests whose answer the SDK goes on to fetch when its stream breaks off. */
  readonly #resumable = new Set<RequestId>();
  #closing: Promise<void> | null = null;

  constructor({ url, headers }: HttpMcpServer) {
    this.#inner = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers },
      fetch: (to, init) => this.#fetch(to, init),
    });
  }

  readonly #fetch: FetchLike = async (url, init) => {
    const id = requestOf(init);
    const request = id === null ? undefined : this.#open.get(id);
    if (id === null || !request) return fetch(url, init);
    const signals = [request.signal, ...(init?.signal ? [init.signal] : [])];
    const response = await fetch(url, { ...init, signal: AbortSignal.any(signals) });
    if (!response.ok || response.body === null) return response;
    const { status, statusText, headers } = response;
    return new Response(
      watched(response.body, () => this.#bodyEnded(id)),
      { status, statusText, headers },
    );
  };

  #bodyEnded(id: RequestId): void {
    setTimeout(() => {
      if (!this.#open.has(id) || this.#resumable.has(id)) return;
      const error = { code: ErrorCode.ConnectionClosed, message: 'the answer broke off', data: brokenOff };
      this.#received({ jsonrpc: '2.0', id, error });
    }, parsingMs);
  }

  #received(message: JSONRPCMessage, extra?: Parameters<NonNullable<Transport['onmessage']>>[1]): void {
    if (!('method' in message) && message.id !== undefined) this.#forget(message.id);
    this.onmessage?.(message, extra);
  }

  #forget(id: RequestId): void {
    this.#open.delete(id);
    this.#resumable.delete(id);
  }

  async start(): Promise<void> {
    this.#inner.onmessage = (message: JSONRPCMessage) => this.#received(message);
    this.#inner.onerror = (error) => this.#failed(error);
    this.#inner.onclose = () => this.onclose?.();
    await this.#inner.start();
  }

  #failed(error: Error): void {
    this.onerror?.(error);
    // The SDK has tried to take a broken stream up again and has given up: what was to come on it never will.
    if (error.message.startsWith('Maximum reconnection attempts')) void this.close();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!('method' in message) || !('id' in message)) {
      if ('method' in message && message.method === 'notifications/cancelled') {
        const id = message.params?.requestId as RequestId;
        this.#open.get(id)?.abort();
        this.#forget(id);
      }
      await this.#inner.send(message);
      return;
    }
    const { id } = message;
    this.#open.set(id, new AbortController());
    try {
      await this.#inner.send(message, { onresumptiontoken: () => this.#resumable.add(id) });
    } catch (error) {
      this.#forget(id);
      throw error;
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeUp = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, farewellMs);
    });
    await Promise.race([this.#inner.terminateSession().catch(() => {}), timeUp]);
    clearTimeout(timer);
    await this.#inner.close();
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version);
  }
}
