import { fileURLToPath } from 'node:url';
import { restClient } from '../../clients/rest.mjs';
import { plainSettings } from '../server-settings.mjs';

export const hand = {
  name: 'hand',
  title: 'Hand-written',
  tables: new URL('./tables.sql', import.meta.url),
  server: fileURLToPath(new URL('./server.mjs', import.meta.url)),
  environment: plainSettings,
  connect: restClient((content) => ({ content })),
  /** Stores turns that were, as the server would have. */
  addTurns: (client, { sessionId, turns, text }) =>
    client.query(
      `INSERT INTO messages (session_id, role, content)
       SELECT $1, role, $3 FROM generate_series(1, $2::int), unnest(ARRAY['user', 'assistant']) role`,
      [sessionId, turns, text],
    ),
};
