import type { HistoryImage, HistoryMessage } from '../../db/queries/load-history.js';
import { plural } from './texts.js';

/** Images of earlier messages ride along only while all images of the request stay below this, as base64. */
const mostBytes = 8 * 1024 * 1024;

/** How an image stands in a prompt that is being planned: its URL, or the digest under which its bytes are stored. */
const blobMark = 'blob:';
export const imageReference = ({ url, digest }: HistoryImage): string => url ?? `${blobMark}${digest}`;
/** Null for a URL. */
export const digestOf = (reference: string): string | null =>
  reference.startsWith(blobMark) ? reference.slice(blobMark.length) : null;

const sentBytes = ({ byteSize }: HistoryImage) => Math.ceil((byteSize * 4) / 3);
const sendable = ({ images }: HistoryMessage) => images.filter(({ isRefused }) => !isRefused);

/**
 * The messages whose images may be sent: the newest one of the user, and of the others the newest whose bytes stay
 * within the limit. Messages are given oldest first.
 */
export function messagesWithImages(messages: readonly HistoryMessage[]): ReadonlySet<string> {
  const chosen = new Set<string>();
  let bytes = 0;
  let isNewest = true;
  for (const message of messages.toReversed()) {
    if (message.role !== 'USER') continue;
    bytes += sendable(message).reduce((sum, image) => sum + sentBytes(image), 0);
    if (!isNewest && bytes > mostBytes) break;
    chosen.add(message.id);
    isNewest = false;
  }
  return chosen;
}

const describe = ({ url, mimeType, byteSize }: HistoryImage) =>
  url ?? `${mimeType ?? 'image'} of ${plural(Math.ceil(byteSize / 1024), 'kilobyte')}`;

/** The images of a message as they are sent, and a note about those that are not; null when there are none. */
export function showImages(
  message: HistoryMessage,
  isShown: boolean,
): { readonly references: readonly string[]; readonly note: string | null } {
  const shown = isShown ? sendable(message) : [];
  const hidden = message.images.filter((image) => !shown.includes(image));
  if (hidden.length === 0) return { references: shown.map(imageReference), note: null };
  const why = hidden.every(({ isRefused }) => isRefused)
    ? 'set aside, since the provider refused it'
    : 'not shown again';
  return {
    references: shown.map(imageReference),
    note: `[${plural(hidden.length, 'image')} ${why}: ${hidden.map(describe).join(', ')}]`,
  };
}
