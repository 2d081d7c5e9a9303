import type { GraphQLResolveInfo } from 'graphql';
import { imageBytes, toDataUri } from '../../db/queries/image-bytes.js';
import { badInput } from '../../errors.js';
import { batched } from '../batch.js';
import { builder } from '../builder.js';
import type { Context } from '../context.js';

/** Most stored image bytes that one field of an operation puts into its answer, before base64. */
const maxInlinedBytes = 134_217_728;

interface StoredImage {
  readonly sessionId: string;
  readonly digest: string;
  readonly byteSize: number;
}

function dataUri(context: Context, info: GraphQLResolveInfo, image: StoredImage): Promise<string> {
  return batched<StoredImage, string>(context, info, 'bytes', image, async (images) => {
    const total = images.reduce((sum, { byteSize }) => sum + byteSize, 0);
    if (total > maxInlinedBytes) {
      throw badInput(
        `These images hold ${total} bytes of ${maxInlinedBytes} that one answer may carry: ask for fewer messages at once, or leave out images.url.`,
      );
    }
    const found = await imageBytes(context.database.pool, images);
    return found.map((blob) => (blob ? toDataUri(blob) : new Error('The bytes of an image are gone.')));
  });
}

builder.prismaObject('MessageImage', {
  name: 'Image',
  description: 'An image that came with a user message.',
  select: { id: true },
  fields: (t) => ({
    url: t.string({
      description:
        'Ready for the src of an img: the https URL as it was sent, or a data URI of the stored bytes. A data URI is as large as its image, so select it only where it is shown; one answer carries at most 128 MiB of them.',
      complexity: 5,
      select: { sessionId: true, digest: true, url: true, blob: { select: { byteSize: true } } },
      resolve: ({ sessionId, digest, url, blob }, _args, context, info) =>
        url ?? dataUri(context, info, { sessionId, digest: String(digest), ...required(blob) }),
    }),
    mimeType: t.string({
      nullable: true,
      description: 'Type of a stored image by its content, such as image/png; null for an https URL.',
      select: { blob: { select: { mimeType: true } } },
      resolve: ({ blob }) => blob?.mimeType,
    }),
    bytes: t.int({
      nullable: true,
      description: 'Size of a stored image in bytes; null for an https URL.',
      select: { blob: { select: { byteSize: true } } },
      resolve: ({ blob }) => blob?.byteSize,
    }),
  }),
});

/** An image has a URL or stored bytes; the database keeps it so. */
function required<Blob>(blob: Blob | null): Blob {
  if (blob === null) {
    throw new Error('An image has neither a URL nor bytes.');
  }
  return blob;
}
