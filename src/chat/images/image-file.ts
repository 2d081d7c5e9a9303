import type { FileHandle } from 'node:fs/promises';
import { relative } from 'node:path';
import { badInput } from '../../errors.js';
import { type ImageData, imageType, mostBytes } from './image-type.js';
import { openBelow } from './open-below.js';

const longestPath = 1_024;

/** The names of a path below a folder; null for one that may lead out of it. Looks at the text only. */
function namesBelow(folder: string, path: string): readonly string[] | null {
  if (path.length > longestPath || path.includes('\0') || path.split('/').includes('..')) return null;
  const inside = path.startsWith('/') ? relative(folder, path) : path;
  const names = inside.split('/').filter((name) => name !== '' && name !== '.');
  return names.length === 0 || names.includes('..') ? null : names;
}

/** The first `size` bytes; fewer when the file has become shorter. */
async function readBytes(file: FileHandle, size: number): Promise<Buffer> {
  const data = Buffer.alloc(size);
  let length = 0;
  while (length < size) {
    const { bytesRead } = await file.read(data, length, size - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return data.subarray(0, length);
}

async function readImage(name: string, file: FileHandle): Promise<ImageData> {
  const { size } = await file.stat();
  if (size > mostBytes) {
    throw badInput(`${name} is larger than ${mostBytes} bytes: name a smaller image.`, { limit: mostBytes });
  }
  const data = await readBytes(file, size);
  const mimeType = imageType(data);
  if (!mimeType) throw badInput(`${name} is no image: only PNG, JPEG, GIF and WebP are taken.`);
  return { mimeType, data };
}

/**
 * Reads an image of the operator's folder. What is outside of it, and what is there but no regular file, is refused in
 * the same words as what is not there.
 */
export async function readImageFile(name: string, path: string, folder: string): Promise<ImageData> {
  const names = namesBelow(folder, path);
  const file = names && (await openBelow(folder, names));
  if (!file) {
    throw badInput(
      `${name} must be the path of a file in this server's folder of images, without links and "..", an https URL, or a data URI such as data:image/png;base64,…`,
    );
  }
  try {
    return await readImage(name, file);
  } finally {
    await file.close();
  }
}
