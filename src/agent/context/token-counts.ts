import type { PromptMessage } from '../../model/port.js';
import { countTokens, tokensOfMessage, tokensPerImage } from '../../model/tokens.js';

const mostMessages = 20_000;
const mostTexts = 200;
/** A longer text is counted each time: keeping it would take more than it saves. */
const longestKept = 50_000;

interface StoredMessage {
  readonly id: string;
  readonly content: string;
  readonly images: readonly unknown[];
}

/** Lets go of the oldest quarter of what is full. */
function makeRoom<Key>(counts: Map<Key, unknown>, most: number): void {
  if (counts.size >= most) for (const oldest of [...counts.keys()].slice(0, most / 4)) counts.delete(oldest);
}

function remember<Key>(counts: Map<Key, number>, most: number, key: Key, count: () => number): number {
  const known = counts.get(key);
  if (known !== undefined) return known;
  const counted = count();
  makeRoom(counts, most);
  counts.set(key, counted);
  return counted;
}

/**
 * Token counts of what comes again with every model call. A message is counted once for each form in which it is told:
 * counting a long conversation anew each time would take a tenth of a second.
 */
export class TokenCounts {
  readonly #messages = new Map<string, number>();
  readonly #stored = new Map<string, { readonly length: number; readonly images: number; readonly tokens: number }>();
  readonly #texts = new Map<string, number>();

  /** @param key names the message and its form; the same key, the same text. */
  message(message: PromptMessage, key: string | null): number {
    const images = message.role === 'user' ? message.images.length * tokensPerImage : 0;
    const count = () => tokensOfMessage(message) - images;
    return images + (key === null ? count() : remember(this.#messages, mostMessages, key, count));
  }

  /** Of a stored message as it was written. Its text is not looked at again, unless there is more or less of it by now. */
  stored({ id, content, images }: StoredMessage, count: () => number): number {
    const known = this.#stored.get(id);
    if (known?.length === content.length && known.images === images.length) return known.tokens;
    const tokens = count();
    this.#stored.delete(id);
    makeRoom(this.#stored, mostMessages);
    this.#stored.set(id, { length: content.length, images: images.length, tokens });
    return tokens;
  }

  /** Of a text that many requests have in common. */
  text(text: string): number {
    if (text.length > longestKept) return countTokens(text);
    return remember(this.#texts, mostTexts, text, () => countTokens(text));
  }
}
