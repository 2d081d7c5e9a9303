import { chmod, mkdir, realpath, stat } from 'node:fs/promises';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { type FolderLock, lockFolder } from './folder-lock.js';

/** The folder of the embedded Postgres, made when it is missing and locked for this process. */
export interface DataFolder {
  readonly path: string;
  readonly lock: FolderLock;
}

/** @throws EmbeddedPostgresError with a sentence about what is wrong with the folder. */
export async function openDataFolder(dataDir: string): Promise<DataFolder> {
  try {
    await mkdir(dataDir, { recursive: true });
    const path = await realpath(dataDir);
    await letOthersThrough(path);
    return { path, lock: await lockFolder(path) };
  } catch (error) {
    throw explain(dataDir, error as NodeJS.ErrnoException);
  }
}

/** The account that root runs Postgres under has to get to its own folder in here. Everything else stays closed to it. */
async function letOthersThrough(path: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { mode } = await stat(path);
  if ((mode & 0o011) !== 0o011) await chmod(path, mode | 0o011);
}

function explain(dataDir: string, error: NodeJS.ErrnoException): Error {
  switch (error.code) {
    case 'EEXIST':
    case 'ENOTDIR':
      return new EmbeddedPostgresError(`${dataDir} is a file, or lies below one: set DATA_DIR to a folder.`, {
        cause: error,
      });
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new EmbeddedPostgresError(
        `The folder ${dataDir} is not writable for this server: change its owner, or set DATA_DIR to another folder.`,
        { cause: error },
      );
    case 'ENOSPC':
      return new EmbeddedPostgresError(`The disk of ${dataDir} is full: make room, or set DATA_DIR to another disk.`, {
        cause: error,
      });
    default:
      return error;
  }
}
