import type { Conversation } from './conversation.js';
import { type Tale, tales } from './tales.js';

const lengths = { short: 150, long: 600, longest: 4_000 };

const inWords =
  /\b(?:story|tale)\b.*?\b(?<words>\d{1,5}) words\b|\b(?<words2>\d{1,5})[- ]words?\b.*\b(?:story|tale|text|essay)\b|\bwrite (?<words3>\d{1,5}) words\b/i;
const long =
  /\blong\b.*\b(?:story|tale|answer|text|essay|reply|poem)\b|\b(?:story|answer|reply)\b.*\blong\b|^long[.!]?$/i;

/** What is a wish for a story, of any length. */
export const storyWish = new RegExp(String.raw`${unnamed(inWords)}|${unnamed(long)}|\b(?:story|tale)\b`, 'i');

function unnamed({ source }: RegExp): string {
  return source.replace(/\(\?<\w+>/g, '(?:');
}

/** How many words are wished for; null when it is no wish for a story. */
function lengthOf(message: string): number | null {
  const { words, words2, words3 } = inWords.exec(message)?.groups ?? {};
  const named = words ?? words2 ?? words3;
  if (named !== undefined) return Math.min(Number(named), lengths.longest);
  if (long.test(message)) return lengths.long;
  return storyWish.test(message) ? lengths.short : null;
}

/** The story that a message asks for: another one each time, and never the short one at length. */
export function storyFor({ said, message }: Conversation): string {
  const wished = [...said.slice(0, -1).map((text) => text.trim().slice(0, 2_000)), message]
    .map(lengthOf)
    .filter((words) => words !== null);
  const words = wished.at(-1) ?? lengths.short;
  const first = (wished[0] ?? 0) > 300 ? 1 : 0;
  const next = tales[(first + wished.length - 1) % tales.length] ?? tales[0];
  const named = /\babout\b/i.test(message) ? tales.find(({ subject }) => subject.test(message)) : undefined;
  return tellStory(named ?? next, words);
}

const wordsIn = (text: string) => text.split(/\s+/).length;

/** The tale with about so many words, in paragraphs. The longer ones go round in circles, as such tales do. */
function tellStory({ opening, middle, ending }: Tale, words: number): string {
  const sentences = [...opening];
  let count = wordsIn([...opening, ...ending].join(' '));
  for (let at = 0; count < words; at += 1) {
    const round = Math.floor(at / middle.length);
    const sentence = middle[at % middle.length] ?? '';
    const told = round > 0 && at % middle.length === 0 ? `Then winter number ${round + 1} came. ${sentence}` : sentence;
    sentences.push(told);
    count += wordsIn(told);
  }
  sentences.push(...ending);
  const paragraphs: string[] = [];
  for (let at = 0; at < sentences.length; at += 4) paragraphs.push(sentences.slice(at, at + 4).join(' '));
  return paragraphs.join('\n\n');
}
