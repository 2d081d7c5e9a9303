import type { ModelFinishReason } from './port.js';
import { badResponse, errorOfEvent } from './provider-error.js';

/** A piece of a tool call. Servers differ in what they leave out and what they repeat. */
export interface ToolCallPiece {
  readonly index: number | null;
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** What one chunk of a completion says, as far as this server listens. */
export interface Chunk {
  readonly thinking: string;
  readonly text: string;
  /** Words of the model about why it will not answer, apart from the text. */
  readonly refusal: string;
  readonly toolCalls: readonly ToolCallPiece[];
  readonly finishReason: ModelFinishReason | null;
  /** As it came; undefined when the chunk has none. */
  readonly usage: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Understands the data of one event of a completion stream.
 *
 * @throws ModelError for an error event and for everything that is not a chunk. Fields that this server has no use for
 * may be missing, unknown or of any type.
 */
export function readChunk(data: string): Chunk {
  let parsed: unknown;
  try {
    parsed = JSON.parse(data);
  } catch {
    // The parser's own message quotes the text, so it goes no further.
    throw badResponse('malformed event');
  }
  if (!isFields(parsed)) throw badResponse('event of a wrong type');
  if (parsed.error !== undefined && parsed.error !== null) throw errorOfEvent(parsed.error);
  const choice = readChoice(parsed.choices);
  const delta = optionalFields(choice?.delta, 'delta');
  return {
    thinking: readThinking(delta),
    text: optionalText(delta?.content, 'content'),
    refusal: optionalText(delta?.refusal, 'refusal'),
    toolCalls: readToolCalls(delta),
    finishReason: readFinishReason(choice?.finish_reason),
    usage: parsed.usage,
  };
}

/** Usage chunks have no choice at all. Of several choices only the first was asked for. */
function readChoice(choices: unknown): Fields | undefined {
  if (choices === undefined || choices === null) return undefined;
  if (!Array.isArray(choices)) throw badResponse('choices of a wrong type');
  const first: unknown = choices.find((choice: unknown) => !isFields(choice) || (choice.index ?? 0) === 0);
  return optionalFields(first, 'choice');
}

/** No standard field: `reasoning_content` at DeepSeek and vLLM, `reasoning` at OpenRouter and Ollama; some send both. */
function readThinking(delta: Fields | undefined): string {
  if (typeof delta?.reasoning_content === 'string') return delta.reasoning_content;
  return typeof delta?.reasoning === 'string' ? delta.reasoning : '';
}

const noToolCalls: readonly ToolCallPiece[] = [];

function readToolCalls(delta: Fields | undefined): readonly ToolCallPiece[] {
  if (Array.isArray(delta?.tool_calls)) return delta.tool_calls.filter(isFields).map(readToolCall);
  // The form before tools, which some servers still use when there is only one.
  return isFields(delta?.function_call) ? [readToolCall({ function: delta.function_call })] : noToolCalls;
}

function readToolCall(call: Fields): ToolCallPiece {
  const named = isFields(call.function) ? call.function : {};
  const given = named.arguments;
  return {
    index: typeof call.index === 'number' ? call.index : null,
    id: typeof call.id === 'string' ? call.id : '',
    name: typeof named.name === 'string' ? named.name : '',
    // Some servers send the object itself.
    arguments: typeof given === 'string' ? given : isFields(given) ? JSON.stringify(given) : '',
  };
}

const finishReasons: ReadonlyMap<string, ModelFinishReason> = new Map([
  ['stop', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['content_filter', 'content_filter'],
  ['safety', 'content_filter'],
  ['refusal', 'content_filter'],
  ['tool_calls', 'tool_calls'],
  ['function_call', 'tool_calls'],
]);

/** With these the provider says that it broke off by itself, so what came is no reply. */
const failures = new Set(['error', 'abort', 'cancelled', 'insufficient_system_resource']);

/**
 * An unknown reason counts as `stop`: the provider did end the stream on purpose, servers have many words for it (`eos`,
 * `end_turn`, `stop_sequence`), and to call the reply a failure would throw away text that was paid for.
 */
function readFinishReason(reason: unknown): ModelFinishReason | null {
  if (reason === undefined || reason === null || reason === '') return null;
  if (typeof reason !== 'string') throw badResponse('finish reason of a wrong type');
  const known = reason.toLowerCase();
  if (failures.has(known)) throw errorOfEvent({ code: 'server_error' });
  return finishReasons.get(known) ?? 'stop';
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function optionalFields(value: unknown, name: string): Fields | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isFields(value)) throw badResponse(`${name} of a wrong type`);
  return value;
}

function optionalText(value: unknown, name: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') throw badResponse(`${name} of a wrong type`);
  return value;
}
