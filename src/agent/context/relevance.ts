const word = /[\p{L}\p{N}]+/gu;
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u;
/** Enough of a long text to know what it is about. */
const readLength = 4_000;

/** The terms of a text in any language: words, and pairs of characters where a language writes no spaces. */
export function termsOf(text: string): ReadonlySet<string> {
  const terms = new Set<string>();
  for (const [found] of text.slice(0, readLength).toLowerCase().matchAll(word)) {
    if (!unspaced.test(found)) {
      if (found.length > 1) terms.add(found);
      continue;
    }
    const characters = [...found];
    for (let at = 0; at < characters.length; at += 1) terms.add(characters.slice(at, at + 2).join(''));
  }
  return terms;
}

/**
 * How much each text has to do with a question, from 0 to 1: the part of the question's terms that it has, those that
 * few texts have counting more.
 */
export function relevance(question: string, texts: readonly string[]): number[] {
  const wanted = [...termsOf(question)];
  const has = texts.map(termsOf);
  const weights = new Map(
    wanted.map((term) => {
      const holders = has.filter((terms) => terms.has(term)).length;
      return [term, Math.log(1 + texts.length / (1 + holders))] as const;
    }),
  );
  const all = wanted.reduce((sum, term) => sum + (weights.get(term) ?? 0), 0);
  if (all === 0) return texts.map(() => 0);
  return has.map(
    (terms) => wanted.reduce((sum, term) => sum + (terms.has(term) ? (weights.get(term) ?? 0) : 0), 0) / all,
  );
}
