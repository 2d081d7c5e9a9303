import type { Queryable } from './queryable.js';

export interface BlobKey {
  readonly sessionId: string;
  readonly digest: string;
}

/** The stored bytes of images, in the order of the keys; null for one that is gone. */
export async function imageBytes(db: Queryable, keys: readonly BlobKey[]): Promise<readonly (Buffer | null)[]> {
  const { rows } = await db.query<{ session_id: string; digest: string; data: Buffer }>({
    name: 'image-bytes',
    text: `
SELECT b.session_id, b.digest, b.data
FROM unnest($1::uuid[], $2::text[]) AS wanted(session_id, digest)
JOIN image_blobs b ON b.session_id = wanted.session_id AND b.digest = wanted.digest`,
    values: [keys.map(({ sessionId }) => sessionId), keys.map(({ digest }) => digest)],
  });
  const found = new Map(rows.map((row) => [`${row.session_id} ${row.digest}`, row.data]));
  return keys.map(({ sessionId, digest }) => found.get(`${sessionId} ${digest}`) ?? null);
}
