import { imageBytes, toDataUri } from '../../db/queries/image-bytes.js';
import type { Queryable } from '../../db/queries/queryable.js';
import type { PromptMessage } from '../../model/port.js';
import { digestOf } from './images.js';

/** Puts the stored bytes of images in the place of their references. Reads nothing when there are none. */
export async function resolveImages(
  db: Queryable,
  sessionId: string,
  messages: readonly PromptMessage[],
): Promise<readonly PromptMessage[]> {
  const references = new Set(messages.flatMap((message) => (message.role === 'user' ? message.images : [])));
  const stored = [...references].flatMap((reference) => {
    const digest = digestOf(reference);
    return digest === null ? [] : [{ reference, key: { sessionId, digest } }];
  });
  if (stored.length === 0) return messages;
  const blobs = await imageBytes(
    db,
    stored.map(({ key }) => key),
  );
  const urls = new Map<string, string | null>(
    stored.map(({ reference }, at) => {
      const blob = blobs[at];
      return [reference, blob ? toDataUri(blob) : null] as const;
    }),
  );
  return messages.map((message) =>
    message.role === 'user' && message.images.length > 0
      ? { ...message, images: message.images.flatMap((image) => (urls.has(image) ? (urls.get(image) ?? []) : [image])) }
      : message,
  );
}
