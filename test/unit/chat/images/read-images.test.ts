import { describe, expect, it } from 'vitest';
import { readImages } from '../../../../src/chat/images/read-images.js';
import { ChatError } from '../../../../src/errors.js';

const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const pngUri = `data:image/png;base64,${png.toString('base64')}`;
const read = (...images: string[]) => readImages(images, { newId: () => 'id', imageDir: null });

async function refusal(...images: string[]): Promise<string> {
  try {
    await read(...images);
  } catch (error) {
    if (error instanceof ChatError && error.code === 'BAD_USER_INPUT') return error.message;
    throw error;
  }
  return 'accepted';
}

describe('images of a message', () => {
  it('passes an https URL on by reference', async () => {
    expect(await read('https://example.com/cat.png')).toEqual([
      { id: 'id', url: 'https://example.com/cat.png', digest: null, mimeType: null, data: null },
    ]);
  });

  it('takes the bytes of a data URI', async () => {
    expect((await read(pngUri))[0]).toMatchObject({ url: null, mimeType: 'image/png', data: png });
  });

  it.each([
    ['a file path', '/etc/passwd'],
    ['a relative path', '../secret.png'],
    ['a file URL', 'file:///etc/passwd'],
    ['plain http', 'http://example.com/cat.png'],
    ['credentials in the URL', 'https://user:secret@example.com/cat.png'],
    ['raw base64', png.toString('base64')],
    ['an empty text', ''],
    ['a URL without end', `https://example.com/${'a'.repeat(3_000)}`],
    ['a data URI that is no image', 'data:text/html;base64,PGI+'],
    ['a data URI without base64', 'data:image/png,abc'],
    ['broken base64', 'data:image/png;base64,@@@@'],
    ['base64 that is cut', pngUri.slice(0, -3)],
    ['base64 with too much padding', 'data:image/png;base64,iVBORw0KGgo==='],
    ['no data', 'data:image/png;base64,'],
    ['another type than it says', pngUri.replace('image/png', 'image/jpeg')],
    ['SVG, which can carry scripts', `data:image/svg+xml;base64,${Buffer.from('<svg/>').toString('base64')}`],
  ])('refuses %s', async (_what, image) => {
    expect(await refusal(pngUri, image)).toMatch(/^images\[1\]/);
  });

  it('refuses a data URI that is too large before it decodes it', async () => {
    expect(await refusal(`data:image/png;base64,${'A'.repeat(8_000_000)}`)).toMatch(/larger than 5242880 bytes/);
  });

  it('refuses too many', async () => {
    expect(await refusal(...Array.from({ length: 9 }, () => pngUri))).toMatch(/9 entries and the limit is 8/);
  });

  it('takes images of 5 MiB each, but no more than 20 MiB together', async () => {
    const data = Buffer.concat([png], 5 * 1024 * 1024);
    const large = `data:image/png;base64,${data.toString('base64')}`;
    expect((await read(large, large, large, large)).map((image) => image.data?.length)).toEqual(
      Array(4).fill(data.length),
    );
    expect(await refusal(large, large, large, large, pngUri)).toMatch(/more than 20971520 bytes together/);
  });

  it('says of a path that no files are read here', async () => {
    expect(await refusal('cat.png')).toMatch(/must be an https URL .* This server reads no files\.$/);
  });
});
