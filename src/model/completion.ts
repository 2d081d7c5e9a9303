import type { ModelEvent, ModelFinishReason, TokenUsage } from './port.js';
import { badResponse, errorOfEvent } from './provider-error.js';
import { createTextJoiner } from './repair.js';
import { createSseReader, type SseEvent } from './sse.js';
import { createToolCallCollector } from './tool-call-collector.js';
import { readChunk } from './wire-chunk.js';
import { readUsage } from './wire-usage.js';

/** Turns the bytes of one completion stream into events of the port. */
export interface CompletionReader {
  /** What these bytes say: neighbouring deltas of one read are joined. Never throws; see `failure`. */
  push(bytes: Uint8Array): ModelEvent[];
  /** What was still waiting when the body ended cleanly. */
  end(): ModelEvent[];
  /** The closing events. @throws ModelError when no finish reason was seen: such a stream is no success. */
  result(): ModelEvent[];
  /** What made the stream unusable. Nothing is read after it. */
  readonly failure: unknown;
  /** Chunks read so far. */
  readonly chunks: number;
  /** A finish reason was seen: the reply is complete, whatever happens to the connection now. */
  readonly isFinished: boolean;
  /** The provider has said that nothing more comes. */
  readonly isDone: boolean;
}

export function createCompletionReader(): CompletionReader {
  const sse = createSseReader();
  const joiners = { text: createTextJoiner(), thinking: createTextJoiner() };
  const toolCalls = createToolCallCollector();
  let events: { type: 'text' | 'thinking' | 'tool_call_delta'; text: string }[] = [];
  let chunks = 0;
  let finishReason: ModelFinishReason | null = null;
  let usage: TokenUsage | null = null;
  let isRefusal = false;
  let isDone = false;
  let failure: unknown = null;

  function collect(read: () => SseEvent[]): ModelEvent[] {
    if (isDone || failure !== null) return [];
    events = [];
    try {
      for (const event of read()) {
        take(event);
        if (isDone) break;
      }
    } catch (error) {
      // Once the finish reason is here the reply is whole, and what follows can only spoil it.
      if (finishReason === null) failure = error;
      else isDone = true;
    }
    return events;
  }

  function take({ event, data }: SseEvent): void {
    if (data.startsWith('[DONE]')) {
      isDone = true;
      return;
    }
    if (event === 'error') throw errorOfEvent(errorIn(data));
    if (data === '') return;
    const chunk = readChunk(data);
    chunks += 1;
    emit('thinking', chunk.thinking);
    emit('text', chunk.text);
    emit('text', chunk.refusal);
    isRefusal ||= chunk.refusal !== '';
    for (const piece of chunk.toolCalls) append('tool_call_delta', toolCalls.add(piece));
    // Some servers repeat the reason, or close with a plain stop after a more telling one.
    if (chunk.finishReason !== null && !(chunk.finishReason === 'stop' && finishReason !== null)) {
      finishReason = chunk.finishReason;
    }
    // Cumulative reports repeat themselves: the last usable one counts.
    if (chunk.usage !== undefined) usage = readUsage(chunk.usage) ?? usage;
  }

  function emit(type: 'text' | 'thinking', piece: string): void {
    if (piece === '') return;
    const other = type === 'text' ? 'thinking' : 'text';
    append(other, joiners[other].end());
    append(type, joiners[type].push(piece));
  }

  function append(type: 'text' | 'thinking' | 'tool_call_delta', text: string): void {
    if (text === '') return;
    const last = events.at(-1);
    if (last?.type === type) last.text += text;
    else events.push({ type, text });
  }

  function reason(): ModelFinishReason {
    if (finishReason === null) throw badResponse('no finish reason', { chunks });
    // A refusal comes with `stop`, but it is no answer: its words are the text, its reason tells it apart.
    if (isRefusal) return 'content_filter';
    return finishReason === 'stop' && toolCalls.size > 0 ? 'tool_calls' : finishReason;
  }

  return {
    push: (bytes) => collect(() => sse.push(bytes)),
    end() {
      const rest = collect(() => sse.end());
      append('thinking', joiners.thinking.end());
      append('text', joiners.text.end());
      return rest;
    },
    result: () => [
      ...toolCalls.calls(finishReason === 'length').map((call) => ({ type: 'tool_call' as const, call })),
      { type: 'finish', reason: reason() },
      ...(usage === null ? [] : [{ type: 'usage' as const, usage }]),
    ],
    get failure() {
      return failure;
    },
    get chunks() {
      return chunks;
    },
    get isFinished() {
      return finishReason !== null;
    },
    get isDone() {
      return isDone;
    },
  };
}

/** The error object of an `event: error`; its data is the object, or holds it, or is no JSON. */
function errorIn(data: string): unknown {
  try {
    const parsed: unknown = JSON.parse(data);
    return typeof parsed === 'object' && parsed !== null && 'error' in parsed ? parsed.error : parsed;
  } catch {
    return null;
  }
}
