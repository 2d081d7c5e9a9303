import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readImageFile } from '../../../../src/chat/images/image-file.js';
import { ChatError } from '../../../../src/errors.js';

// What somebody does between two steps of the reading.
const between = { afterCheck: () => {}, afterOpen: (_path: string) => {} };
const { lstat, open } = fs;
beforeAll(() => {
  fs.lstat = (async (path: string) => {
    const stats = await lstat(path);
    between.afterCheck();
    return stats;
  }) as typeof lstat;
  fs.open = async (path, flags) => {
    const handle = await open(path, flags);
    between.afterOpen(String(path));
    return handle;
  };
  syncBuiltinESMExports();
});
afterAll(() => {
  Object.assign(fs, { lstat, open });
  syncBuiltinESMExports();
});

const png = (text: string) => Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from(text)]);
let base: string;
let folder: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'swapped-'));
  folder = join(base, 'shown');
  for (const [parent, text] of [
    [folder, 'inside'],
    [base, 'secret'],
  ] as const) {
    mkdirSync(join(parent, 'cats'), { recursive: true });
    writeFileSync(join(parent, 'a.png'), png(text));
    writeFileSync(join(parent, 'cats', 'a.png'), png(text));
  }
});
afterEach(() => {
  Object.assign(between, { afterCheck: () => {}, afterOpen: () => {} });
  rmSync(base, { recursive: true });
});

const read = (path: string) => readImageFile('images[0]', path, folder);
const swap = (name: string, target: string) => {
  renameSync(join(folder, name), join(folder, `${name}.away`));
  symlinkSync(target, join(folder, name));
};

describe('a file that is swapped while it is read', () => {
  it('for a link between check and opening is refused', async () => {
    between.afterCheck = () => swap('a.png', '../a.png');
    await expect(read('a.png')).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  });

  it('for a pipe between check and opening is refused, without waiting', async () => {
    between.afterCheck = () => {
      unlinkSync(join(folder, 'a.png'));
      execFileSync('mkfifo', [join(folder, 'a.png')]);
    };
    await expect(read('a.png')).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  });

  it('is read from the folder that was checked, when that is swapped for a link', async () => {
    between.afterOpen = (path) => {
      if (path.endsWith('/cats')) swap('cats', '../cats');
    };
    expect((await read('cats/a.png')).data).toEqual(png('inside'));
  });

  it('is the one that was opened, when the name is swapped afterwards', async () => {
    between.afterOpen = (path) => {
      if (path.endsWith('a.png')) swap('a.png', '../a.png');
    };
    expect((await read('a.png')).data).toEqual(png('inside'));
  });

  it('again and again is never one of outside', { timeout: 60_000 }, async () => {
    // Another thread, since a swap in this one would never come in the middle of a system call.
    const swapper = new Worker(
      `const { renameSync, symlinkSync, unlinkSync } = require('node:fs');
       const { workerData: folder } = require('node:worker_threads');
       for (;;) for (const name of ['a.png', 'cats']) {
         const path = folder + '/' + name;
         renameSync(path, path + '.away');
         symlinkSync('../' + name, path);
         unlinkSync(path);
         renameSync(path + '.away', path);
       }`,
      { eval: true, workerData: folder },
    );
    await new Promise((resolve) => swapper.once('online', resolve));
    const outcomes = { inside: 0, refused: 0 };
    for (let attempt = 0; attempt < 1_000; attempt += 1) {
      const image = await read(attempt % 2 ? 'a.png' : 'cats/a.png').catch((error) => {
        expect(error).toBeInstanceOf(ChatError);
        return null;
      });
      if (image) expect(image.data).toEqual(png('inside'));
      outcomes[image ? 'inside' : 'refused'] += 1;
    }
    await swapper.terminate();
    expect(outcomes.inside).toBeGreaterThan(0);
    expect(outcomes.refused).toBeGreaterThan(0);
  });
});
