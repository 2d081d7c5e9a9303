import { Writable } from 'node:stream';
import { type Logger, pino } from 'pino';
import { createOpenAiModel, type OpenAiModelOptions } from '../../src/model/openai.js';
import type { ModelError, ModelEvent, ModelPort, ModelRequest, TokenUsage } from '../../src/model/port.js';

/** What came of one model call: everything received, and how it ended. */
export interface CallOutcome {
  readonly events: readonly ModelEvent[];
  readonly text: string;
  readonly thinking: string;
  readonly finish: string | null;
  readonly usage: TokenUsage | null;
  /** What was thrown; null after a good end. */
  readonly error: unknown;
}

export const userRequest = (content = 'hello', fields: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'scripted',
  messages: [{ role: 'user', content, images: [] }],
  temperature: null,
  maxOutputTokens: null,
  ...fields,
});

/** Makes a call and reads it to its end, whatever the end is. */
export async function callModel(
  model: ModelPort,
  request: ModelRequest = userRequest(),
  signal: AbortSignal = new AbortController().signal,
  onEvent: (event: ModelEvent) => void = () => {},
): Promise<CallOutcome> {
  const events: ModelEvent[] = [];
  let error: unknown = null;
  try {
    for await (const event of model.stream(request, signal)) {
      events.push(event);
      onEvent(event);
    }
  } catch (caught) {
    error = caught;
  }
  const join = (type: 'text' | 'thinking') => events.map((event) => (event.type === type ? event.text : '')).join('');
  const finish = events.find((event) => event.type === 'finish');
  const usage = events.find((event) => event.type === 'usage');
  return {
    events,
    text: join('text'),
    thinking: join('thinking'),
    finish: finish?.type === 'finish' ? finish.reason : null,
    usage: usage?.type === 'usage' ? usage.usage : null,
    error,
  };
}

/** The parts of an error that tests look at. */
export const codeOf = ({ error }: CallOutcome) => (error as ModelError | null)?.code ?? null;

export interface CapturedLog {
  readonly log: Logger;
  /** All that was written, as text. */
  text(): string;
}

/** A log of every level that can be read. */
export function captureLog(): CapturedLog {
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  return { log: pino({ level: 'trace' }, destination), text: () => lines.join('') };
}

/** The adapter with settings of a test: generous deadlines, a key, a silent log. */
export const createTestModel = (baseUrl: string, options: Partial<OpenAiModelOptions> = {}): ModelPort =>
  createOpenAiModel({
    apiKey: 'sk-test',
    baseUrl,
    idleTimeoutMs: 5_000,
    totalTimeoutMs: 10_000,
    log: pino({ level: 'silent' }),
    ...options,
  });
