import { chmod, mkdir, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
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
    await makeFolder(dataDir);
    const path = await realpath(dataDir);
    await letOthersThrough(path);
    return { path, lock: await lockFolder(path) };
  } catch (error) {
    throw explain(dataDir, error as NodeJS.ErrnoException);
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/**
 * Makes a folder with those above it. The recursive mkdir of Node never comes back from a file system that answers
 * ENOENT below a folder that is there, as /proc does.
 */
async function makeFolder(path: string): Promise<void> {
  if (await isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) await makeFolder(parent);
  try {
    await mkdir(path);
  } catch (error) {
    // Another process may have been faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !(await isFolder(path))) throw error;
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
    case 'ENOENT':
      return new EmbeddedPostgresError(
        `The folder ${dataDir} cannot be made where it should be: set DATA_DIR to another folder.`,
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
