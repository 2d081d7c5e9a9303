import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chown, mkdir, mkdtemp, readdir, rename, rm, stat, symlink, unlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';

/** The right to be the only server on a folder. */
export interface FolderLock {
  release(): Promise<void>;
}

/** Longest path of a socket, in bytes, on the strictest system. */
const longestSocketPath = 103;
const answerMs = 1_000;

/**
 * Locks a folder for this process, or fails at once.
 *
 * The lock is a socket in `folder`/lock that this process listens on. The system closes it with the process however
 * that ends, so no number of a process, which another one may have by now, has to be believed. Taking it is one rename:
 * a folder can replace an empty folder, but not one that holds a socket. Each socket has a name that is never used
 * again, so clearing away a dead one cannot hit the lock of somebody who was faster.
 *
 * @throws EmbeddedPostgresError when another process has it.
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  if (process.platform === 'win32') return lockByPipe(folder);
  const name = randomBytes(6).toString('hex');
  const draft = join(folder, `lock.${name}`);
  const lock = join(folder, 'lock');
  await mkdir(draft, { mode: 0o700 });
  await giveToOwner(draft, folder);
  let server: Server | undefined;
  try {
    server = await listen(join(draft, name)).catch((cause) => {
      throw new EmbeddedPostgresError(
        `The folder ${folder} is on a file system without sockets, which its lock needs: set DATA_DIR to a folder on a local disk, or set DATABASE_URL.`,
        { cause },
      );
    });
    while (!(await moveInto(draft, lock))) {
      for (const other of await readdir(lock)) {
        const holder = await askHolder(join(lock, other));
        if (holder !== undefined) throw inUse(folder, holder);
        await unlink(join(lock, other)).catch(() => {});
      }
    }
  } catch (error) {
    server?.close();
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
  const held = server;
  return {
    async release() {
      held.close();
      await unlink(join(lock, name)).catch(() => {});
    },
  };
}

/** After a start as root, the owner of the folder must still be able to clear away what that has left. */
async function giveToOwner(draft: string, folder: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(folder);
  await chown(draft, uid, gid);
}

async function moveInto(draft: string, lock: string): Promise<boolean> {
  try {
    await rename(draft, lock);
    return true;
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

/** A pipe of Windows exists as long as somebody listens on it, and only one process can. */
async function lockByPipe(folder: string): Promise<FolderLock> {
  const path = `\\\\.\\pipe\\chatsession-${createHash('sha256').update(folder.toLowerCase()).digest('hex')}`;
  try {
    const server = await listen(path);
    return {
      async release() {
        server.close();
      },
    };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw inUse(folder, await askHolder(path));
  }
}

const inUse = (folder: string, pid: string | undefined) =>
  new EmbeddedPostgresError(
    `The folder ${folder} is in use by another chatsession server${pid ? ` (pid ${pid})` : ''}. Stop it, or set DATA_DIR or DATABASE_URL.`,
  );

async function listen(path: string): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end(String(process.pid));
  });
  await withShortPath(path, async (short) => {
    // Who may ask is decided by the folder around it. Another account must be able to find out that root has gone.
    server.listen({ path: short, readableAll: true, writableAll: true });
    await once(server, 'listening');
  });
  // The lock lasts as long as the process, and must not be what keeps it alive.
  server.unref();
  return server;
}

/** The process id of whoever listens there, empty when it does not say; undefined when nobody listens any more. */
function askHolder(path: string): Promise<string | undefined> {
  return withShortPath(
    path,
    (short) =>
      new Promise((resolve) => {
        const socket = connect(short);
        let answer = '';
        socket.setEncoding('utf8');
        socket.setTimeout(answerMs, () => socket.destroy());
        socket.on('data', (text) => {
          answer += text;
        });
        socket.on('close', () => resolve(answer));
        socket.on('error', (error: NodeJS.ErrnoException) => {
          if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(undefined);
        });
      }),
  );
}

/** The path of a socket is limited to about 100 bytes; a link to its folder gets around that. */
async function withShortPath<T>(path: string, use: (short: string) => Promise<T>): Promise<T> {
  if (Buffer.byteLength(path) <= longestSocketPath || process.platform === 'win32') return use(path);
  const folder = await mkdtemp(join(tmpdir(), 'chatsession-'));
  try {
    await symlink(dirname(path), join(folder, 'lock'));
    return await use(join(folder, 'lock', basename(path)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
