import { readFile } from 'node:fs/promises';

const statement = readFile(new URL('./copy-turns.sql', import.meta.url), 'utf8');

/** Database id of an opaque id. */
const uuidOf = (globalId) => Buffer.from(globalId, 'base64').toString().split(':').at(-1);

/**
 * Makes a session as long as if it had had so many more turns: its newest turn, which was run, is copied with all its
 * rows.
 */
export async function copyTurns(client, { sessionId, turns }) {
  await client.query(await statement, [uuidOf(sessionId), turns]);
}
