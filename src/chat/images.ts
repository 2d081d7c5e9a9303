import type { ImageRow } from '../db/queries/accept-turn.js';
import { sha256 } from '../digest.js';
import { badInput } from '../errors.js';

const mostImages = 8;
const mostBytes = 5 * 1024 * 1024;
const longestUrl = 2_048;

/** What a file of each type begins with; a client's word for the type is not enough. */
const signatures: readonly { mimeType: string; matches(data: Buffer): boolean }[] = [
  { mimeType: 'image/png', matches: (data) => data.subarray(0, 8).toString('hex') === '89504e470d0a1a0a' },
  { mimeType: 'image/jpeg', matches: (data) => data.subarray(0, 3).toString('hex') === 'ffd8ff' },
  { mimeType: 'image/gif', matches: (data) => /^GIF8[79]a/.test(data.toString('latin1', 0, 6)) },
  {
    mimeType: 'image/webp',
    matches: (data) => data.toString('latin1', 0, 4) === 'RIFF' && data.toString('latin1', 8, 12) === 'WEBP',
  },
];

const dataUri = /^data:(image\/[a-z+.-]+);base64,/i;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function readDataUri(name: string, uri: string): Omit<ImageRow, 'id'> {
  const head = dataUri.exec(uri);
  if (!head) {
    throw badInput(`${name} must be a base64 data URI of an image, such as data:image/png;base64,iVBORw0…`);
  }
  // Judged by the length of the text, before anything of that size is decoded.
  if (((uri.length - head[0].length) * 3) / 4 > mostBytes + 3) {
    throw badInput(`${name} is larger than ${mostBytes} bytes: send a smaller image or an https URL.`, {
      limit: mostBytes,
    });
  }
  const encoded = uri.slice(head[0].length);
  if (encoded === '' || !base64.test(encoded)) throw badInput(`${name} is not valid base64.`);
  const data = Buffer.from(encoded, 'base64');
  const signature = signatures.find((candidate) => candidate.matches(data));
  if (!signature || signature.mimeType !== head[1]?.toLowerCase()) {
    throw badInput(`${name} is not what it says: only PNG, JPEG, GIF and WebP are taken, each under its own type.`);
  }
  return { url: null, digest: sha256(data), mimeType: signature.mimeType, data };
}

function readUrl(name: string, text: string): Omit<ImageRow, 'id'> {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '' || text.length > longestUrl) {
    throw badInput(
      `${name} must be an https URL without credentials of at most ${longestUrl} characters, or a data URI such as data:image/png;base64,…`,
    );
  }
  return { url: url.href, digest: null, mimeType: null, data: null };
}

/**
 * Reads the images of a message: https URLs, which are passed on by reference and never fetched here, and data URIs,
 * which are checked and stored. At most 8 of at most 5 MiB each.
 */
export function readImages(images: readonly string[], newId: () => string): ImageRow[] {
  if (images.length > mostImages) {
    throw badInput(`images has ${images.length} entries and the limit is ${mostImages}: send fewer.`, {
      limit: mostImages,
    });
  }
  return images.map((image, index) => {
    const name = `images[${index}]`;
    return { id: newId(), ...(/^data:/i.test(image) ? readDataUri(name, image) : readUrl(name, image)) };
  });
}
