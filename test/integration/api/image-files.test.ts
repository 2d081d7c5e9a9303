import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf } from '../../clients/results.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type ChatClient, chatClient, openTurn } from '../../support/client.js';
import { runSql } from '../../support/database-server.js';
import { pixel } from '../../support/pixel.js';

const png = Buffer.from(pixel.slice(pixel.indexOf(',') + 1), 'base64');
const uri = (data: Buffer) => `data:image/png;base64,${data.toString('base64')}`;
const base = mkdtempSync(join(tmpdir(), 'image-files-'));
const folder = join(base, 'shown');

let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  mkdirSync(join(folder, 'cats'), { recursive: true });
  writeFileSync(join(folder, 'cats', 'a.png'), png);
  writeFileSync(join(base, 'secret.png'), png);
  symlinkSync(join(base, 'secret.png'), join(folder, 'link.png'));
  execFileSync('mkfifo', [join(folder, 'pipe.png')]);
  app = await startTestApp({ IMAGE_DIR: folder });
  client = chatClient(app.url);
});
afterAll(async () => {
  await app.close();
  rmSync(base, { recursive: true });
});

const images = (body: { readonly messages: readonly { readonly content: unknown }[] } | undefined) =>
  (body?.messages ?? []).flatMap(({ content }) =>
    Array.isArray(content)
      ? content.flatMap((part) => (part.type === 'image_url' ? [part.image_url.url as string] : []))
      : [],
  );
const lastImages = () => images(app.provider.requests.at(-1)?.body);

describe('an image that is given by its path', () => {
  it('reaches the model, is stored once beside the same bytes as a data URI, and is read back without its path', async () => {
    const id = await client.createSession();
    await client.send(id, 'look', { images: ['cats/a.png', pixel, join(folder, 'cats', 'a.png')] });
    expect(lastImages()).toEqual([pixel, pixel, pixel]);
    const { rows } = await runSql(app.database.url, 'SELECT data FROM image_blobs');
    expect(rows).toEqual([{ data: png }]);
    const { data } = await client.run(
      'query ($id: ID!) { chatSession(id: $id) { history { images { url mimeType bytes } } traceEvents { nodes { data } } } }',
      { id },
    );
    const stored = { url: pixel, mimeType: 'image/png', bytes: png.length };
    expect(data.chatSession.history[0].images).toEqual([stored, stored, stored]);
    expect(JSON.stringify(data)).not.toContain('cats');
    expect(app.logLines.join('\n')).not.toContain('a.png');
  });

  it('stays what it was when it was sent, whatever becomes of the file', async () => {
    const id = await client.createSession();
    const file = join(folder, 'changing.png');
    writeFileSync(file, png);
    const first = await client.send(id, 'look', { images: ['changing.png'], clientMessageId: 'mine' });
    writeFileSync(file, Buffer.concat([png, Buffer.from('changed')]));
    await client.send(id, 'and now?', { images: ['changing.png'] });
    expect(lastImages()).toEqual([pixel, uri(Buffer.concat([png, Buffer.from('changed')]))]);
    await client.regenerate(id);
    unlinkSync(file);
    await client.send(id, 'still there?');
    expect(lastImages()).toEqual([pixel, uri(Buffer.concat([png, Buffer.from('changed')]))]);

    const asked = app.provider.requests.length;
    const again = await client.send(id, 'look', { images: ['changing.png'], clientMessageId: 'mine' });
    expect(again.turn.id).toBe(first.turn.id);
    expect(app.provider.requests).toHaveLength(asked);
    const others = await client.trySend(id, 'look', { images: ['cats/../a.png'], clientMessageId: 'mine' });
    expect(codesOf(others)).toEqual(['BAD_USER_INPUT']);
  });

  it('is followed by a stream that comes again with the same id, also when the file is gone', async () => {
    const id = await client.createSession();
    const file = join(folder, 'streamed.png');
    writeFileSync(file, png);
    const options = { images: ['streamed.png'], clientMessageId: 'mine' };
    const events = await openTurn(app.url, 'ws', id, 'look', options).rest();
    expect(lastImages()).toEqual([pixel]);
    unlinkSync(file);
    const told = await openTurn(app.url, 'sse', id, 'look', options).rest();
    expect(told.at(-1)).toEqual(events.at(-1));
    expect(await client.session(id)).toMatchObject({ turnCount: 1 });
  });

  it.each([
    ['outside', () => join(base, 'secret.png')],
    ['outside, where nothing is', () => join(base, 'nothing.png')],
    ['outside, by a way up', () => '../secret.png'],
    ['outside, by a link', () => 'link.png'],
    ['not there', () => 'nothing.png'],
    ['a folder', () => 'cats'],
    ['a pipe', () => 'pipe.png'],
    ['with a NUL in its name', () => 'cats/a.png\0'],
  ])('is refused in one sentence when it is %s, and nothing is stored', async (_what, path) => {
    const id = await client.createSession();
    const asked = app.provider.requests.length;
    const refused = await client.trySend(id, 'look', { images: [pixel, path()] });
    expect(refused.errors?.[0]).toMatchObject({
      message:
        'images[1] must be the path of a file in this server\'s folder of images, without links and "..", an https URL, or a data URI such as data:image/png;base64,…',
      extensions: { code: 'BAD_USER_INPUT' },
    });
    expect(await client.session(id)).toMatchObject({ turnCount: 0, messageCount: 0 });
    expect(app.provider.requests).toHaveLength(asked);
  });
});
