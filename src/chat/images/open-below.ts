import { constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY, O_RDONLY } = constants;

/** What a path that leads nowhere, through a link, or to what must not be read ends with. */
const refusals: ReadonlySet<unknown> = new Set([
  'EACCES',
  'ELOOP',
  'ENAMETOOLONG',
  'ENODEV',
  'ENOENT',
  'ENOTDIR',
  'ENXIO',
  'EPERM',
]);

/** A name in a folder that is open: Linux goes on from the folder itself, wherever its path leads to by now. */
const within = (folder: FileHandle, name: string) => `/proc/self/fd/${folder.fd}/${name}`;

async function openFile(folder: FileHandle, name: string): Promise<FileHandle | null> {
  const path = within(folder, name);
  // Before it is opened, since that alone can set a device or a pipe going. What counts is what was opened.
  if (!(await lstat(path)).isFile()) return null;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  const stats = await file.stat();
  // A file with a second name may have that one outside of the folder.
  if (stats.isFile() && stats.nlink === 1) return file;
  await file.close();
  return null;
}

async function walk(root: FileHandle, names: readonly string[]): Promise<FileHandle | null> {
  let folder = root;
  try {
    for (const name of names.slice(0, -1)) {
      const next = await open(within(folder, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      if (folder !== root) await folder.close();
      folder = next;
    }
    return await openFile(folder, names.at(-1) ?? '');
  } catch (error) {
    if (refusals.has((error as NodeJS.ErrnoException).code)) return null;
    throw error;
  } finally {
    if (folder !== root) await folder.close();
  }
}

/**
 * Opens a regular file of a folder, name by name, each from the folder before it and never through a link. So whoever
 * swaps files and links meanwhile leads it nowhere else. Null for everything that is no such file, for whatever reason.
 *
 * @param names neither empty nor "." nor "..", and without "/".
 * @throws what the system says when the folder itself cannot be opened.
 */
export async function openBelow(path: string, names: readonly string[]): Promise<FileHandle | null> {
  const root = await open(path, O_RDONLY | O_DIRECTORY);
  try {
    return await walk(root, names);
  } finally {
    await root.close();
  }
}
