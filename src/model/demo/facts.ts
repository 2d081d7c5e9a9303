/** What a user has told about himself: from what it is about ("name", "favourite colour") to what it is. */
export type Facts = ReadonlyMap<string, string>;

/** The end of what is told: punctuation, or a word that begins something else. */
const value = String.raw`([^\n.,;!?]{1,60}?)(?=\s*(?:$|[\n.,;!?]|\band\b|\bbut\b))`;
const pattern = (text: string) => new RegExp(text, 'gi');

/** Statements with a fixed topic. */
const statements: readonly (readonly [RegExp, string])[] = [
  [pattern(String.raw`\b(?:my name is|my name's|call me|i am called|i'm called)\s+${value}`), 'name'],
  // Only with a greeting: "I am German" names nobody.
  [/\b(?:[Hh]i|[Hh]ello|[Hh]ey)\b[\s\p{L}]{0,20}[,!.]?\s+I(?: am|'m)\s+([A-Z][\p{L}'-]+)/gu, 'name'],
  [pattern(String.raw`\bi live in\s+${value}`), 'home'],
  [pattern(String.raw`\bi(?: am|'m) from\s+${value}`), 'origin'],
  [pattern(String.raw`\bi work (?:as|at|for|in)\s+${value}`), 'work'],
  [pattern(String.raw`\bi (?:really )?(?:like|love|enjoy)\s+${value}`), 'liking'],
];

/** "My favourite colour is green", "my dog is called Rex": the topic is told as well. */
const possession = pattern(String.raw`\bmy ([a-z ]{2,40}?) (?:is|are)\s+${value}`);

/** One spelling, one case: "Favorite Colours" and "favourite colour" are one topic. */
export function normaliseTopic(topic: string): string {
  return topic
    .toLowerCase()
    .replace(/\bfavorite\b/g, 'favourite')
    .replace(/\bcolor\b/g, 'colour')
    .replace(/\s+/g, ' ')
    .trim();
}

const tidy = (told: string) => told.trim().replace(/\s+(?:instead|please|now|again|too)$/i, '');

/** Collects what the user's messages tell, the newest word on each topic. Questions tell nothing. */
export function collectFacts(messages: readonly string[]): Facts {
  const facts = new Map<string, string>();
  for (const message of messages) {
    for (const sentence of message.slice(0, 10_000).split(/(?<=[.!?\n])\s+/)) {
      if (/\?\s*$/.test(sentence)) continue;
      for (const [statement, topic] of statements) {
        for (const [, told] of sentence.matchAll(statement)) if (told) facts.set(topic, tidy(told));
      }
      for (const [, topic, told] of sentence.matchAll(possession)) {
        if (topic && told && normaliseTopic(topic) !== 'name') facts.set(normaliseTopic(topic), tidy(told));
      }
    }
  }
  return facts;
}

/** A fact as a sentence that is said to the user. */
export function tellFact(topic: string, told: string): string {
  switch (topic) {
    case 'name':
      return `your name is ${told}`;
    case 'home':
      return `you live in ${told}`;
    case 'origin':
      return `you are from ${told}`;
    case 'work':
      return `you work with ${told}`;
    case 'liking':
      return `you like ${told}`;
    default:
      return `your ${topic} is ${told}`;
  }
}
