/** Bytes of an image, with the type that they have. */
export interface ImageData {
  readonly mimeType: string;
  readonly data: Buffer;
}

/** Most bytes of one image that is stored. */
export const mostBytes = 5 * 1024 * 1024;

/** What a file of each type begins with; a client's word or the name of a file is not enough. */
const signatures: readonly { mimeType: string; matches(data: Buffer): boolean }[] = [
  { mimeType: 'image/png', matches: (data) => data.subarray(0, 8).toString('hex') === '89504e470d0a1a0a' },
  { mimeType: 'image/jpeg', matches: (data) => data.subarray(0, 3).toString('hex') === 'ffd8ff' },
  { mimeType: 'image/gif', matches: (data) => /^GIF8[79]a/.test(data.toString('latin1', 0, 6)) },
  {
    mimeType: 'image/webp',
    matches: (data) => data.toString('latin1', 0, 4) === 'RIFF' && data.toString('latin1', 8, 12) === 'WEBP',
  },
];

/** The type of an image by its content; null for anything but PNG, JPEG, GIF and WebP. */
export const imageType = (data: Buffer): string | null =>
  signatures.find((candidate) => candidate.matches(data))?.mimeType ?? null;
