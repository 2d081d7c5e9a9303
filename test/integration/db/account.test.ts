import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findServerAccount, giveAccess, runAs } from '../../../src/db/embedded/account.js';

describe('the account of the embedded Postgres', () => {
  let folder: string;
  let program: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'chatsession-closed-'));
    await mkdir(join(folder, 'bin'));
    program = join(folder, 'bin', 'program');
    await writeFile(program, '#!/bin/sh\nexec env test -x "$0"\n');
    await chmod(program, 0o755);
    await chmod(folder, 0o700);
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  // A checkout by root below a folder of mode 700. Postgres looks for its own programs with access(), which asks about
  // the rights of the account and leaves privileges out unless told otherwise.
  it('runs programs that find themselves below a folder that only we may enter', async () => {
    const account = await giveAccess(await findServerAccount(folder), [program]);
    await expect(runAs(account, program, [])).resolves.toBeDefined();
  });
});
