import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { link } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readImageFile } from '../../../../src/chat/images/image-file.js';
import { ChatError } from '../../../../src/errors.js';

const png = (text: string) => Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from(text)]);
const base = mkdtempSync(join(tmpdir(), 'images-'));
const folder = join(base, 'shown');
const read = (path: string, from = folder) => readImageFile('images[0]', path, from);

async function refusal(path: string, from = folder): Promise<string> {
  try {
    await read(path, from);
  } catch (error) {
    if (error instanceof ChatError && error.code === 'BAD_USER_INPUT') return error.message;
    throw error;
  }
  return 'accepted';
}

const socket = createServer();
beforeAll(async () => {
  mkdirSync(join(folder, 'cats'), { recursive: true });
  mkdirSync(join(base, 'shown-too'));
  writeFileSync(join(folder, 'a.png'), png('a'));
  writeFileSync(join(folder, 'cats', 'b b:%2e.png'), png('b'));
  writeFileSync(join(folder, 'c.png'), Buffer.from('GIF89a'));
  writeFileSync(join(base, 'secret.png'), png('secret'));
  writeFileSync(join(base, 'shown-too', 'secret.png'), png('secret'));
  symlinkSync('../secret.png', join(folder, 'link.png'));
  symlinkSync('../nothing.png', join(folder, 'dangling.png'));
  symlinkSync('a.png', join(folder, 'inner-link.png'));
  symlinkSync('..', join(folder, 'up'));
  symlinkSync('/proc/self/root', join(folder, 'root'));
  writeFileSync(join(base, 'linked.png'), png('secret'));
  await link(join(base, 'linked.png'), join(folder, 'hard-link.png'));
  execFileSync('mkfifo', [join(folder, 'pipe.png')]);
  await new Promise<void>((resolve) => socket.listen(join(folder, 'socket.png'), resolve));
  writeFileSync(join(folder, 'page.png'), '<html>');
  writeFileSync(join(folder, 'empty.png'), '');
  writeFileSync(join(folder, 'huge.png'), png(''));
  truncateSync(join(folder, 'huge.png'), 10 * 1024 ** 3);
  symlinkSync('shown', join(base, 'chosen'));
});
afterAll(async () => {
  await new Promise((resolve) => socket.close(resolve));
  rmSync(base, { recursive: true });
});

describe('a file as an image', () => {
  it('is read by its path below the folder, or its absolute one', async () => {
    const b = { mimeType: 'image/png', data: png('b') };
    expect(await read('cats/b b:%2e.png')).toEqual(b);
    expect(await read('./cats//b b:%2e.png')).toEqual(b);
    expect(await read(join(folder, 'cats/b b:%2e.png'))).toEqual(b);
  });

  it('has the type of its content, whatever its name says', async () => {
    expect(await read('c.png')).toEqual({ mimeType: 'image/gif', data: Buffer.from('GIF89a') });
  });

  it('may be in a folder that the operator has chosen by a link', async () => {
    expect(await read('a.png', join(base, 'chosen'))).toEqual({ mimeType: 'image/png', data: png('a') });
  });

  it.each([
    ['what does not exist', 'nothing.png'],
    ['a link to a file outside', 'link.png'],
    ['a link to nothing outside', 'dangling.png'],
    ['a link to a file inside', 'inner-link.png'],
    ['a file through a link to a folder', 'up/secret.png'],
    ['nothing through a link to a folder', 'up/nothing.png'],
    ['the system through a link', 'root/etc/passwd'],
    ['a second name of a file', 'hard-link.png'],
    ['a way up', '../secret.png'],
    ['a way up and back', '../shown/a.png'],
    ['a way up further in', 'cats/../a.png'],
    ['a way up, encoded', '%2e%2e/secret.png'],
    ['a way up with backslashes', '..\\secret.png'],
    ['an absolute path outside', join(base, 'secret.png')],
    ['an absolute path to nothing', join(base, 'nothing.png')],
    ['a folder whose name begins alike', join(base, 'shown-too', 'secret.png')],
    ['an absolute way up', `${folder}/../secret.png`],
    ['the folder itself', folder],
    ['the folder itself, relative', '.'],
    ['a folder', 'cats'],
    ['a file as if it were a folder', 'a.png/a.png'],
    ['a pipe, without waiting for it', 'pipe.png'],
    ['a socket', 'socket.png'],
    ['a NUL', 'a.png\0.jpg'],
    ['a name that is too long', 'a'.repeat(300)],
    ['a path that is too long', 'cats/'.repeat(300)],
    ['nothing at all', ''],
  ])('is refused in the same words: %s', async (_what, path) => {
    expect(await refusal(path)).toBe(await refusal('nothing at all.png'));
    expect(await refusal(path)).toMatch(/^images\[0\] must be the path of a file in this server's folder of images,/);
  });

  it('is refused when it is a device', async () => {
    expect(await refusal('zero', '/dev')).toMatch(/must be the path/);
    expect(await refusal('null', '/dev')).toMatch(/must be the path/);
  });

  it('is refused when it is no image or larger than an image may be, without being read', async () => {
    expect(await refusal('page.png')).toMatch(/^images\[0\] is no image/);
    expect(await refusal('empty.png')).toMatch(/^images\[0\] is no image/);
    expect(await refusal('status', '/proc/self')).toMatch(/^images\[0\] is no image/);
    expect(await refusal('huge.png')).toMatch(/^images\[0\] is larger than 5242880 bytes/);
  });

  it('is the fault of the server when its folder is gone', async () => {
    await expect(read('a.png', join(base, 'gone'))).rejects.toThrow('ENOENT');
  });

  it('leaves nothing open', async () => {
    const open = () => readdirSync('/proc/self/fd').length;
    const before = open();
    for (const path of [
      'a.png',
      'cats/b b:%2e.png',
      'cats/none.png',
      'page.png',
      'huge.png',
      'up/secret.png',
      'cats',
    ]) {
      await read(path).catch(() => null);
    }
    expect(open()).toBe(before);
  });
});
