import type { ImageRow } from '../../db/queries/accept-turn.js';
import { sha256 } from '../../digest.js';
import { badInput } from '../../errors.js';
import { isDataUri, readDataUri } from './data-uri.js';
import { readImageFile } from './image-file.js';
import type { ImageData } from './image-type.js';

const mostImages = 8;
/** Of all images of a message that are stored: files cost their sender nothing. */
const mostBytesTogether = 20 * 1024 * 1024;
const longestUrl = 2_048;

function readUrl(name: string, text: string, end: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '' || text.length > longestUrl) {
    throw badInput(
      `${name} must be an https URL without credentials of at most ${longestUrl} characters, or a data URI such as data:image/png;base64,…${end}`,
    );
  }
  return url.href;
}

interface Options {
  readonly newId: () => string;
  /** The one folder of which files are read. Null: none are. */
  readonly imageDir: string | null;
}

const stored = ({ mimeType, data }: ImageData) => ({ url: null, digest: sha256(data), mimeType, data });

async function readImage(name: string, text: string, imageDir: string | null): Promise<Omit<ImageRow, 'id'>> {
  if (isDataUri(text)) return stored(readDataUri(name, text));
  if (imageDir !== null && !URL.canParse(text)) return stored(await readImageFile(name, text, imageDir));
  const url = readUrl(name, text, imageDir === null ? '. This server reads no files.' : ', or the path of a file.');
  return { url, digest: null, mimeType: null, data: null };
}

/**
 * Reads the images of a message: https URLs, which are passed on by reference and never fetched here, data URIs and
 * files of the operator's folder, which are checked and stored. What is no URL is a path.
 */
export async function readImages(
  images: readonly string[],
  { newId, imageDir }: Options,
): Promise<readonly ImageRow[]> {
  if (images.length > mostImages) {
    throw badInput(`images has ${images.length} entries and the limit is ${mostImages}: send fewer.`, {
      limit: mostImages,
    });
  }
  const rows: ImageRow[] = [];
  let bytes = 0;
  for (const [index, text] of images.entries()) {
    const row = { id: newId(), ...(await readImage(`images[${index}]`, text, imageDir)) };
    bytes += row.data?.length ?? 0;
    if (bytes > mostBytesTogether) {
      throw badInput(`images hold more than ${mostBytesTogether} bytes together: send fewer or smaller ones.`, {
        limit: mostBytesTogether,
      });
    }
    rows.push(row);
  }
  return rows;
}
