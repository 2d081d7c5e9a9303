import { createRequire } from 'node:module';
import type { ModelRequest, PromptMessage, PromptTool, TokenUsage } from './port.js';

/**
 * Characters per piece. The tokeniser takes quadratic time for a long run without spaces (100,000 equal characters: 8 s),
 * so it never gets one: cut into pieces the count rises by less than one in a hundred.
 */
const pieceLength = 500;
/** Longest text that is counted whole; of a longer one as much is counted, evenly spread. At worst about 0.1 s. */
const countedLength = 32_000;

/** What the chat format adds: per message its role and marks, once the start of the reply. */
export const tokensPerMessage = 4;
export const tokensPerReply = 3;
/** What providers charge for a picture of usual size; its bytes are no text. */
export const tokensPerImage = 1_000;

type CountTokens = (text: string, options: { disallowedSpecial: Set<string> }) => number;

const anySpecialToken = { disallowedSpecial: new Set<string>() };
let counter: CountTokens | undefined;

/** The ranks are 2.4 MB of code that takes a quarter of a second to load, so they are loaded with the first text. */
function loadCounter(): CountTokens {
  const encoding = createRequire(import.meta.url)('gpt-tokenizer/encoding/o200k_base') as {
    countTokens: CountTokens;
    setMergeCacheSize: (entries: number) => void;
  };
  // The default of 100,000 entries would let hostile text fill 100 MB.
  encoding.setMergeCacheSize(10_000);
  return encoding.countTokens;
}

/**
 * Tokens of a text in OpenAI's present encoding (o200k). For other vendors' models it is an estimate, mostly within a
 * tenth. Never zero for a text that is not empty; takes any text in bounded time.
 */
export function countTokens(text: string): number {
  if (text === '') return 0;
  counter ??= loadCounter();
  const isWhole = text.length <= countedLength;
  const stride = isWhole ? pieceLength : Math.ceil(text.length / (countedLength / pieceLength));
  let tokens = 0;
  let counted = 0;
  for (let from = 0; from < text.length; ) {
    const to = endOfPiece(text, from);
    tokens += counter(text.slice(from, to), anySpecialToken);
    counted += to - from;
    from = isWhole ? to : from + stride;
  }
  return Math.max(1, isWhole ? tokens : Math.ceil((tokens * text.length) / counted));
}

/** Before a space where there is one, since tokens begin with it; never inside of a surrogate pair. */
function endOfPiece(text: string, from: number): number {
  const to = from + pieceLength;
  if (to >= text.length) return text.length;
  const space = text.lastIndexOf(' ', to);
  if (space > from + pieceLength / 2) return space;
  const last = text.charCodeAt(to - 1);
  return last >= 0xd800 && last <= 0xdbff ? to + 1 : to;
}

/** Tokens of a prompt with all that the chat format adds to it. */
export function estimatePromptTokens(messages: readonly PromptMessage[]): number {
  return messages.reduce((sum, message) => sum + tokensOfMessage(message), tokensPerReply);
}

/** Tokens that the tools of a request take: providers count about what their JSON is. */
export const estimateToolTokens = (tools: readonly PromptTool[]): number =>
  tools.length === 0 ? 0 : countTokens(JSON.stringify(tools));

/** Tokens of one message with all that the chat format adds to it. */
export function tokensOfMessage(message: PromptMessage): number {
  const text = tokensPerMessage + countTokens(message.content);
  if (message.role === 'user') return text + message.images.length * tokensPerImage;
  if (message.role !== 'assistant') return text;
  return message.toolCalls.reduce(
    (sum, call) => sum + tokensPerMessage + countTokens(call.name) + countTokens(call.arguments),
    text,
  );
}

/**
 * The usage of a call whose provider reported none: an estimate, to be flagged as such.
 *
 * @param outputText all that was received, thinking and tool calls included
 */
export function estimateUsage(request: ModelRequest, outputText: string): TokenUsage {
  return {
    inputTokens: estimatePromptTokens(request.messages) + estimateToolTokens(request.tools ?? []),
    cachedInputTokens: 0,
    outputTokens: countTokens(outputText),
    reasoningTokens: 0,
  };
}
