import type { Queryable } from './queryable.js';

export interface BlobKey {
  readonly sessionId: string;
  readonly digest: string;
}

/** A stored image, with the type that its content has. */
export interface ImageBlob {
  readonly mimeType: string;
  readonly data: Buffer;
}

export const toDataUri = ({ mimeType, data }: ImageBlob): string =>
  `data:${mimeType};base64,${data.toString('base64')}`;

/** Stored images, in the order of the keys; null for one that is gone. */
export async function imageBytes(db: Queryable, keys: readonly BlobKey[]): Promise<readonly (ImageBlob | null)[]> {
  const { rows } = await db.query<{ session_id: string; digest: string; mime_type: string; data: Buffer }>({
    name: 'image-bytes',
    text: `
SELECT b.session_id, b.digest, b.mime_type, b.data
FROM unnest($1::uuid[], $2::text[]) AS wanted(session_id, digest)
JOIN image_blobs b ON b.session_id = wanted.session_id AND b.digest = wanted.digest`,
    values: [keys.map(({ sessionId }) => sessionId), keys.map(({ digest }) => digest)],
  });
  const found = new Map(
    rows.map(({ session_id, digest, mime_type: mimeType, data }) => [`${session_id} ${digest}`, { mimeType, data }]),
  );
  return keys.map(({ sessionId, digest }) => found.get(`${sessionId} ${digest}`) ?? null);
}
