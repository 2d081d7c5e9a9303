import { deferred } from './deferred.js';

/** One thing that the scripted provider does while it answers a request. Made by the helpers below. */
export type Step =
  /** Sends the response headers; without it they go out with the first byte. Overrides the usual ones. */
  | { readonly do: 'headers'; readonly headers: Readonly<Record<string, string>>; readonly status: number }
  /** Writes bytes as they are; bytewise gives every byte a write of its own. */
  | { readonly do: 'write'; readonly bytes: Buffer; readonly bytewise: boolean }
  /** Writes an event whose text is made from the chunk's id and model, as every real chunk has them. */
  | { readonly do: 'chunk'; readonly chunk: Readonly<Record<string, unknown>>; readonly bytewise: boolean }
  /** Waits until the gate opens, or until the client has gone. */
  | { readonly do: 'pause'; readonly until: Promise<unknown>; readonly reached?: () => void }
  /** Lets time pass, less if the client goes. */
  | { readonly do: 'wait'; readonly ms: number }
  /** Ends the response properly, without the closing [DONE]. */
  | { readonly do: 'cutFin' }
  /** Closes the connection in the middle of the body. */
  | { readonly do: 'cutConnection' }
  /** Resets the connection. */
  | { readonly do: 'reset' }
  /** A whole response that is no stream. */
  | {
      readonly do: 'respond';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string | Buffer;
    };

/** What the provider does for one request, in order. After the last step it sends [DONE] and ends, unless cut. */
export type Script = readonly (Step | Script)[];

/** A point where a script waits for its test. */
export interface Gate {
  /** Resolves once a script waits here, so everything before it has been written. */
  readonly reached: Promise<void>;
  readonly opened: Promise<void>;
  open(): void;
  markReached(): void;
}

export function gate(): Gate {
  const reached = deferred();
  const opened = deferred();
  return {
    reached: reached.promise,
    opened: opened.promise,
    open: () => opened.resolve(),
    markReached: () => reached.resolve(),
  };
}

/** Waits for a gate of the test or for any promise. */
export const pause = (until: Gate | Promise<unknown>): Step =>
  'markReached' in until ? { do: 'pause', until: until.opened, reached: until.markReached } : { do: 'pause', until };

/** Says nothing any more until the client goes. As the first step: not even the headers. */
export const silence = (): Step => ({ do: 'pause', until: new Promise(() => {}) });

/** For a load that takes its time; a test that waits for something uses a gate. */
export const wait = (ms: number): Step => ({ do: 'wait', ms });

/** The same steps with a wait before each chunk. */
export const paced = (everyMs: number, ...script: Script): Script =>
  flatten(script).flatMap((step) => (step.do === 'chunk' ? [wait(everyMs), step] : [step]));

export const headers = (overrides: Readonly<Record<string, string>> = {}, status = 200): Step => ({
  do: 'headers',
  headers: overrides,
  status,
});
export const cutFin: Step = { do: 'cutFin' };
export const cutConnection: Step = { do: 'cutConnection' };
export const reset: Step = { do: 'reset' };

export const raw = (bytes: string | Buffer): Step => ({ do: 'write', bytes: Buffer.from(bytes), bytewise: false });

/** A server-sent event with this text or JSON as its data. */
export const event = (data: unknown): Step =>
  raw(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);

/** A comment line, as servers send to keep a connection alive. */
export const ping = (): Step => raw(': ping\n\n');

/** A chunk of a completion; `chunk` overrides its usual fields. */
export const chunk = (fields: Readonly<Record<string, unknown>>): Step => ({
  do: 'chunk',
  chunk: fields,
  bytewise: false,
});

/** A chunk with one choice. `delta` may have any field. */
export const delta = (fields: Readonly<Record<string, unknown>>, finishReason: unknown = null): Step =>
  chunk({ choices: [{ index: 0, delta: fields, logprobs: null, finish_reason: finishReason }] });

/** Cuts a text into n pieces of code points, so that a piece never holds half a character. */
function pieces(text: string, count: number): string[] {
  const points = [...text];
  const size = Math.max(1, Math.ceil(points.length / count));
  return Array.from({ length: Math.ceil(points.length / size) }, (_, at) =>
    points.slice(at * size, (at + 1) * size).join(''),
  );
}

export const text = (content: string, { chunks = 1 }: { chunks?: number } = {}): Script =>
  pieces(content, chunks).map((piece) => delta({ content: piece }));

/** Visible thinking, in the field of DeepSeek and vLLM or in that of OpenRouter and Ollama. */
export const thinking = (
  content: string,
  { chunks = 1, field = 'reasoning_content' }: { chunks?: number; field?: 'reasoning_content' | 'reasoning' } = {},
): Script => pieces(content, chunks).map((piece) => delta({ [field]: piece }));

export interface ScriptedToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, or a value that becomes JSON text. */
  readonly arguments: unknown;
  readonly index?: number;
  /** Pieces that the arguments arrive in. */
  readonly chunks?: number;
}

export function toolCall({ id, name, arguments: args, index = 0, chunks = 1 }: ScriptedToolCall): Script {
  const json = typeof args === 'string' ? args : JSON.stringify(args);
  return [
    delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
    ...pieces(json, chunks).map((piece) => delta({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ];
}

/**
 * Calls in parallel, as providers stream them: each begins with its id and name, then their arguments come in turns, a
 * piece of each.
 */
export function toolCalls(...calls: readonly Omit<ScriptedToolCall, 'index'>[]): Script {
  const streams = calls.map((call, index) => flatten(toolCall({ ...call, index })));
  const longest = Math.max(0, ...streams.map((steps) => steps.length));
  return Array.from({ length: longest }, (_, at) => streams.flatMap((steps) => steps[at] ?? []));
}

export const finish = (reason: unknown = 'stop'): Step => delta({}, reason);

export interface ScriptedUsage {
  readonly prompt: number;
  readonly completion: number;
  readonly cached?: number;
  readonly reasoning?: number;
}

/** The usage object of the wire. */
export const wireUsage = ({ prompt, completion, cached = 0, reasoning = 0 }: ScriptedUsage) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  prompt_tokens_details: { cached_tokens: cached },
  completion_tokens_details: { reasoning_tokens: reasoning },
});

/** A chunk with empty choices and usage. Null sends null; for broken figures use `chunk({ choices: [], usage })`. */
export const usage = (figures: ScriptedUsage | null): Step =>
  chunk({ choices: [], usage: figures && wireUsage(figures) });

/** A whole ordinary answer: role, text, finish reason, usage. */
export const reply = (
  content: string,
  {
    chunks = 1,
    usage: figures = { prompt: 10, completion: 5 },
  }: { chunks?: number; usage?: ScriptedUsage | null } = {},
): Script => [
  delta({ role: 'assistant', content: '' }),
  text(content, { chunks }),
  finish('stop'),
  ...(figures ? [usage(figures)] : []),
];

/** A whole answer that calls tools, with a text before them if one is given. */
export const callTools = (
  calls: readonly Omit<ScriptedToolCall, 'index'>[],
  {
    content = '',
    usage: figures = { prompt: 10, completion: 5 },
  }: { content?: string; usage?: ScriptedUsage | null } = {},
): Script => [
  delta({ role: 'assistant', content: content === '' ? null : '' }),
  text(content),
  toolCalls(...calls),
  finish('tool_calls'),
  ...(figures ? [usage(figures)] : []),
];

/** The same steps with every byte in a write of its own. */
export const bytewise = (...script: Script): Script =>
  flatten(script).map((step) => (step.do === 'write' || step.do === 'chunk' ? { ...step, bytewise: true } : step));

/** An error answer. The body is JSON in the provider's form unless it is a string. */
export const httpError = (
  status: number,
  body: unknown = { error: { message: `scripted ${status}`, type: 'scripted', param: null, code: null } },
  extraHeaders: Readonly<Record<string, string>> = {},
): Step => ({
  do: 'respond',
  status,
  headers: { 'content-type': typeof body === 'string' ? 'text/plain' : 'application/json', ...extraHeaders },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

export const html200 = (body = '<!doctype html><title>Sign in</title><h1>Sign in</h1>'): Step => ({
  do: 'respond',
  status: 200,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body,
});

export const json200Error = (message = 'scripted error in a 200'): Step => ({
  do: 'respond',
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ error: { message, type: 'server_error', code: null } }),
});

/** 200 with the stream's content type and not one byte. */
export const emptyBody = (): Step => ({
  do: 'respond',
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  body: '',
});

export function flatten(script: Script): Step[] {
  return script.flatMap((part) => ('do' in part ? [part] : flatten(part)));
}
