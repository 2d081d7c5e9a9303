import { badInput } from '../../errors.js';
import { type ImageData, imageType, mostBytes } from './image-type.js';

const dataUri = /^data:(image\/[a-z+.-]+);base64,/i;

/** Looks for what must not be there: an expression for the whole of some megabytes would outgrow the stack. */
function isBase64(text: string): boolean {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return text !== '' && text.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(text.slice(0, text.length - padding));
}

export const isDataUri = (text: string): boolean => /^data:/i.test(text);

export function readDataUri(name: string, uri: string): ImageData {
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
  if (!isBase64(encoded)) throw badInput(`${name} is not valid base64.`);
  const data = Buffer.from(encoded, 'base64');
  const mimeType = imageType(data);
  if (!mimeType || mimeType !== head[1]?.toLowerCase()) {
    throw badInput(`${name} is not what it says: only PNG, JPEG, GIF and WebP are taken, each under its own type.`);
  }
  return { mimeType, data };
}
