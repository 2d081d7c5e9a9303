import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { demoModel } from '../price-table.js';
import { wait } from '../retry.js';
import { readConversation } from './conversation.js';
import { replyTo } from './reply.js';
import { limit, promptTokens, utterancesOf } from './speech.js';

/** A readable pace, in tokens a second. */
const readablePace = 30;
const maxBodyBytes = 64 * 1024 * 1024;

export interface DemoModelOptions {
  readonly log: Logger;
  /** Tokens a second; 0: as fast as they can be written. */
  readonly pace?: number;
  /** Wall clock in milliseconds. */
  readonly now?: () => number;
}

export interface DemoModel {
  /** Base URL for OPENAI_BASE_URL's place, ending in /v1. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Starts the demo model: a rule-based server inside of this process that speaks the OpenAI chat completions protocol on a
 * free loopback port, so that everything can be tried without a key, through the same code as with a real provider.
 */
export async function startDemoModel({
  log,
  pace = readablePace,
  now = Date.now,
}: DemoModelOptions): Promise<DemoModel> {
  let completions = 0;
  const server = http.createServer((request, response) => {
    route(request, response).catch((error: unknown) => {
      log.error({ err: error }, 'the demo model failed');
      if (response.headersSent) response.destroy();
      else refuse(response, 500, 'The demo model failed.', 'server_error');
    });
  });

  async function route(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?')[0];
    if (path === '/v1/models' && request.method === 'GET') {
      json(response, 200, {
        object: 'list',
        data: [{ id: demoModel, object: 'model', created: 0, owned_by: 'chatsession' }],
      });
      return;
    }
    if (path !== '/v1/chat/completions') return refuse(response, 404, 'No such path.', 'not_found');
    if (request.method !== 'POST') return refuse(response, 405, 'Use POST.', 'method_not_allowed');
    const body = await readJson(request);
    const conversation = readConversation(body);
    if (conversation === null) return refuse(response, 400, 'Send JSON with messages.', 'invalid_value');
    completions += 1;
    const id = `chatcmpl-demo-${completions}`;
    const options = body as Readonly<Record<string, unknown>>;
    const reply = replyTo(conversation);
    const spoken = limit(utterancesOf(reply, `call_demo_${completions}`), limitIn(options));
    const prompt = promptTokens(conversation);
    await answer(response, {
      frame: { id, created: Math.floor(now() / 1000), model: demoModel },
      deltas: spoken.within.map(({ delta }) => delta),
      finishReason: spoken.isCut ? 'length' : reply.call ? 'tool_calls' : 'stop',
      usage: {
        prompt_tokens: prompt.all,
        completion_tokens: spoken.tokens,
        total_tokens: prompt.all + spoken.tokens,
        prompt_tokens_details: { cached_tokens: prompt.cached },
        completion_tokens_details: { reasoning_tokens: spoken.reasoningTokens },
      },
      isStream: options.stream === true,
      withUsage: (options.stream_options as { include_usage?: unknown } | undefined)?.include_usage === true,
      millisecondsPerToken: pace > 0 ? 1000 / pace : 0,
    });
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  log.info(
    { model: demoModel },
    'no model provider is configured, so the built-in demo model answers: set OPENAI_API_KEY or OPENAI_BASE_URL for a real one',
  );
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Answer {
  readonly frame: { readonly id: string; readonly created: number; readonly model: string };
  readonly deltas: readonly Readonly<Record<string, unknown>>[];
  readonly finishReason: string;
  readonly usage: unknown;
  readonly isStream: boolean;
  readonly withUsage: boolean;
  readonly millisecondsPerToken: number;
}

async function answer(response: http.ServerResponse, given: Answer): Promise<void> {
  const { frame, deltas, finishReason, usage } = given;
  if (!given.isStream) {
    const joined = (field: string) => deltas.map((delta) => delta[field] ?? '').join('');
    const calls = deltas.flatMap((delta) => (delta.tool_calls as unknown[] | undefined) ?? []);
    const message = {
      role: 'assistant',
      content: joined('content') || null,
      ...(joined('reasoning_content') === '' ? {} : { reasoning_content: joined('reasoning_content') }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    };
    const choices = [{ index: 0, message, finish_reason: finishReason }];
    json(response, 200, { ...frame, object: 'chat.completion', choices, usage });
    return;
  }
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  const send = async (fields: object) => {
    const event = `data: ${JSON.stringify({ ...frame, object: 'chat.completion.chunk', ...fields })}\n\n`;
    if (!response.write(event)) await drained(response);
  };
  const choice = (delta: object, reason: string | null) => ({ choices: [{ index: 0, delta, finish_reason: reason }] });
  await send(choice({ role: 'assistant', content: '' }, null));
  for (const delta of deltas) {
    if (given.millisecondsPerToken > 0) await wait(given.millisecondsPerToken, gone.signal).catch(() => {});
    if (gone.signal.aborted) return;
    await send(choice(delta, null));
  }
  await send(choice({}, finishReason));
  if (given.withUsage) await send({ choices: [], usage });
  response.end('data: [DONE]\n\n');
}

const drained = (response: http.ServerResponse) =>
  new Promise<void>((resolve) => {
    const done = () => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.once('drain', done);
    response.once('close', done);
  });

function limitIn(body: Readonly<Record<string, unknown>>): number | null {
  const value = body.max_completion_tokens ?? body.max_tokens;
  return typeof value === 'number' && value >= 0 ? value : null;
}

async function readJson(request: http.IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    parts.push(part);
    length += part.length;
    if (length > maxBodyBytes) return null;
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString('utf8'));
  } catch {
    return null;
  }
}

function json(response: http.ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

const refuse = (response: http.ServerResponse, status: number, message: string, code: string) =>
  json(response, status, { error: { message, type: 'invalid_request_error', param: null, code } });
