import type { Conversation, DemoReply } from './conversation.js';
import { collectFacts, type Facts, normaliseTopic, tellFact } from './facts.js';

const say = (text: string): DemoReply => ({ text });

const quote = (text: string) => (text.length > 200 ? `“${text.slice(0, 200).trimEnd()} …”` : `“${text}”`);

const listOf = (facts: Facts) => [...facts].map(([topic, told]) => tellFact(topic, told));

const joined = (parts: readonly string[]) =>
  parts.length < 2 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;

/** Questions about what the user has told, each with the topic that it asks for. */
const questions: readonly (readonly [RegExp, string])[] = [
  [/\b(?:what(?:'s| is) my name|who am i|do you (?:know|remember) my name|how am i called)\b/i, 'name'],
  [/\bwhere do i live\b/i, 'home'],
  [/\bwhere am i from\b/i, 'origin'],
  [/\bwhat do i (?:do for a living|work)|\bwhere do i work\b/i, 'work'],
  [/\bwhat do i (?:like|love|enjoy)\b/i, 'liking'],
];
const topicQuestion =
  /\b(?:what|who|which)(?:'s| is| are| was)? my ([a-z ]{2,40}?)(?: called| named)?\s*(?:\?|$|again\b)/i;

/** Answers from what was said before in the conversation: the model has no other memory. */
export function recall({ message, said, answered }: Conversation): DemoReply | null {
  const facts = collectFacts(said);
  const topic =
    questions.find(([question]) => question.test(message))?.[1] ??
    normaliseTopic(topicQuestion.exec(message)?.[1] ?? '');
  if (topic !== '') {
    const told = facts.get(topic);
    if (told !== undefined) return say(`You told me: ${tellFact(topic, told)}.`);
    return say(
      topic === 'name'
        ? "You have not told me yet. Say “my name is …” and ask me again: I'll know it from the conversation."
        : `You have not told me about your ${topic === 'liking' ? 'likings' : topic} yet, and I know only what stands in this conversation.`,
    );
  }
  if (/\bwhat do you (?:know|remember) about me\b/i.test(message)) {
    return say(facts.size === 0 ? 'Nothing yet. Tell me something!' : `I know that ${joined(listOf(facts))}.`);
  }
  if (/\bwhat (?:was|is) (?:the first thing|my first message)|\bwhat did i (?:say|ask|write) first\b/i.test(message)) {
    return say(said.length > 1 ? `Your first message was ${quote(said[0] ?? '')}.` : 'This one is your first.');
  }
  if (/\bwhat did i (?:just |last )?(?:say|ask|write)|\bmy (?:last|previous) message\b/i.test(message)) {
    return say(said.length > 1 ? `Before this you said ${quote(said.at(-2) ?? '')}.` : 'This is your first message.');
  }
  if (/\bwhat did you (?:just |last )?(?:say|answer)\b/i.test(message)) {
    return say(answered.length > 0 ? `I said ${quote(answered.at(-1) ?? '')}` : 'I have not said anything yet.');
  }
  if (/\bsumm?ar(?:y|ise|ize)\b.*\b(?:conversation|chat|so far|we)\b/i.test(message)) {
    const known = facts.size === 0 ? '' : ` I know that ${joined(listOf(facts))}.`;
    const topics = said
      .slice(0, -1)
      .slice(-5)
      .map((text) => quote(text.slice(0, 60)));
    const talk = topics.length === 0 ? 'We have only just begun.' : `So far you said ${joined(topics)}.`;
    return say(`${talk}${known}`);
  }
  return null;
}

const again =
  /^(?:(?:please|can you|could you|would you) ){0,2}(?:repeat(?: (?:that|it|this|yourself|your (?:last )?(?:answer|message)))?|say (?:that|it) (?:again|once more)|once more|again|come again)(?: once more| again)?(?:,? please)?[.!?\s]*$/i;

/** The answer before, word for word. */
export function repeatAnswer({ message, answered, results }: Conversation): DemoReply | null {
  if (results.length > 0 || !again.test(message)) return null;
  return say(answered.at(-1) ?? 'I have not said anything yet that I could repeat.');
}

/** Takes note of something that the newest message tells. */
export function acknowledge({ message, said }: Conversation): DemoReply | null {
  const news = collectFacts([message]);
  if (news.size === 0) return null;
  const before = collectFacts(said.slice(0, -1));
  const name = news.get('name');
  if (name !== undefined) {
    const greeting = before.get('name') === undefined ? `Nice to meet you, ${name}!` : `All right, ${name} it is.`;
    return say(`${greeting} I am a demo model, but I can remember that: ask me for your name later on.`);
  }
  return say(`Noted: ${joined(listOf(news))}. Ask me about it whenever you like.`);
}

export const nameOf = (said: readonly string[]): string | null => collectFacts(said).get('name') ?? null;
