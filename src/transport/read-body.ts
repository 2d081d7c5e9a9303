import type { IncomingMessage } from 'node:http';
import { ChatError } from '../errors.js';

const tooLarge = (limit: number) =>
  new ChatError('BAD_USER_INPUT', `The body is larger than ${limit} bytes: send less at once.`);

/** A client that left in the middle of its request; there is nobody to answer. */
export class ClientLeft extends Error {
  override readonly name = 'ClientLeft';
}

/**
 * Reads the body of a request, at most `limit` bytes of it. One that announces more is not read at all; one that
 * announces nothing is counted as it comes.
 *
 * @throws ChatError when it is too large
 * @throws ClientLeft when it breaks off
 */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (Number(request.headers['content-length'] ?? 0) > limit) {
      reject(tooLarge(limit));
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) {
        request.off('data', take);
        chunks.length = 0;
        // Who is in the middle of sending reads no answer; see dropUnreadBody.
        request.resume();
        reject(tooLarge(limit));
      } else {
        chunks.push(chunk);
      }
    };
    request.on('data', take);
    request.once('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    request.once('error', () => reject(new ClientLeft()));
    request.once('close', () => {
      if (!request.readableEnded) {
        reject(new ClientLeft());
      }
    });
  });
}
