import { promptTokensOf } from './prompts.js';
import type { RecordedRequest } from './provider.js';
import {
  callTools,
  cutConnection,
  delta,
  finish,
  httpError,
  paced,
  reply,
  type Script,
  silence,
  text,
  usage,
} from './script.js';

/** What a provider may do with a request, as far as its bill is concerned. */
export type Mood = 'plain' | 'long' | 'endless' | 'no usage' | 'refuses' | 'breaks off' | 'slow' | 'calls a tool';

const moods: readonly Mood[] = [
  'plain',
  'plain',
  'long',
  'long',
  'long',
  'endless',
  'endless',
  'no usage',
  'refuses',
  'breaks off',
  'slow',
  'calls a tool',
];

/** More than any limit of a test affords, so that who sends it never comes to its end. */
const withoutEnd = 20_000;
const wordsPerChunk = 25;

/** A text of exactly so many tokens. */
const words = (count: number): string => Array<string>(count).fill('word').join(' ');

const streamed = (tokens: number): Script => text(words(tokens), { chunks: Math.ceil(tokens / wordsPerChunk) });

/** What the request is allowed at most: what it says itself, or what its model does without being told. */
function capOf({ body }: RecordedRequest, promptTokens: number, own: number | undefined, window: number): number {
  const told = body.max_completion_tokens ?? body.max_tokens;
  return Math.min(typeof told === 'number' ? told : (own ?? window), window - promptTokens);
}

/** A model as its provider knows it. */
export interface BilledModel {
  readonly contextWindow: number;
  readonly maxOutputTokens?: number;
}

/** Chooses what becomes of a request, and says it. Usage is what the texts come to, and never more than was allowed. */
export function moodOf(
  request: RecordedRequest,
  { contextWindow, maxOutputTokens }: BilledModel,
  random: () => number,
): { readonly mood: Mood; readonly script: Script } {
  const prompt = promptTokensOf(request.body.messages);
  const cap = capOf(request, prompt, maxOutputTokens, contextWindow);
  const cached = random() < 0.3 ? Math.floor(random() * prompt) : 0;
  const short = 1 + Math.floor(random() * Math.min(cap, 60));
  const chosen = moods[Math.floor(random() * moods.length)] as Mood;
  const mayCall = Array.isArray(request.body.tools) && request.body.messages.at(-1)?.role === 'user';
  const mood = chosen === 'calls a tool' && !mayCall ? 'plain' : chosen;
  return { mood, script: scriptOf(mood) };

  function scriptOf(of: Mood): Script {
    switch (of) {
      case 'plain':
        return paced(10, reply(words(short), { chunks: 3, usage: { prompt, completion: short, cached } }));
      case 'long':
        return paced(10, streamed(cap), finish('length'), usage({ prompt, completion: cap, cached }));
      case 'endless':
        return [paced(10, streamed(withoutEnd)), silence()];
      case 'no usage':
        return paced(10, streamed(cap), finish('length'));
      case 'refuses':
        return [httpError(503)];
      case 'breaks off':
        return [paced(10, streamed(Math.ceil(cap / 2))), cutConnection];
      case 'slow':
        return paced(120, reply(words(cap), { chunks: 20, usage: { prompt, completion: cap, cached } }));
      case 'calls a tool':
        return [
          delta({ role: 'assistant', content: null }),
          callTools([{ id: `call-${request.index}`, name: 'look_up', arguments: { what: 'it' } }], {
            usage: { prompt, completion: 12, cached },
          }),
        ];
    }
  }
}
