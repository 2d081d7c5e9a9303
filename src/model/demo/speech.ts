import { countTokens } from '../tokens.js';
import type { Conversation, DemoReply } from './conversation.js';

/** A delta of the wire, with the tokens that it costs. */
export interface Utterance {
  readonly delta: Readonly<Record<string, unknown>>;
  readonly tokens: number;
  readonly isThinking: boolean;
}

/** Words with the space before them, long ones in parts: about what a token is. */
const piecesOf = (text: string): string[] => text.match(/\s*\S{1,12}|\s+$/gu) ?? [];

/** The reply piece by piece, as a model would produce it. */
export function utterancesOf(reply: DemoReply, callId: string): Utterance[] {
  const spoken = (text: string, field: 'content' | 'reasoning_content'): Utterance[] =>
    piecesOf(text).map((piece) => ({
      delta: { [field]: piece },
      tokens: countTokens(piece),
      isThinking: field === 'reasoning_content',
    }));
  return [
    ...spoken(reply.thinking ?? '', 'reasoning_content'),
    ...spoken(reply.text ?? '', 'content'),
    ...(reply.call ? calling(reply.call, callId) : []),
  ];
}

function calling(call: NonNullable<DemoReply['call']>, id: string): Utterance[] {
  const json = JSON.stringify(call.arguments);
  const delta = { tool_calls: [{ index: 0, id, type: 'function', function: { name: call.name, arguments: json } }] };
  return [{ delta, tokens: countTokens(call.name) + countTokens(json), isThinking: false }];
}

/** As much of a reply as its limit allows. */
export function limit(utterances: readonly Utterance[], maxTokens: number | null) {
  let tokens = 0;
  let reasoningTokens = 0;
  const within: Utterance[] = [];
  for (const utterance of utterances) {
    if (maxTokens !== null && tokens + utterance.tokens > maxTokens) break;
    tokens += utterance.tokens;
    if (utterance.isThinking) reasoningTokens += utterance.tokens;
    within.push(utterance);
  }
  return { within, tokens, reasoningTokens, isCut: within.length < utterances.length };
}

/** OpenAI caches prompts from this length on, in blocks. */
const cachedFrom = 1_024;
const cacheBlock = 128;

/** Tokens of the prompt, and how many of them a provider's cache would know from the turn before. */
export function promptTokens({ system, said, answered, results }: Conversation) {
  const tokens = (texts: readonly string[]) => texts.reduce((sum, text) => sum + 4 + countTokens(text), 0);
  const before = tokens([system, ...said.slice(0, -1), ...answered]);
  const all = 3 + before + tokens([said.at(-1) ?? '', ...results.map(({ content }) => content)]);
  return { all, cached: before < cachedFrom ? 0 : Math.floor(before / cacheBlock) * cacheBlock };
}
