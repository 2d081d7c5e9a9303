import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { restClient } from '../../clients/rest.mjs';
import { plainSettings } from '../server-settings.mjs';

const messageOf = (text) => ({ message: { id: randomUUID(), role: 'user', parts: [{ type: 'text', text }] } });

/** It has no stream that can be listened to without a turn. */
export const aisdk = {
  name: 'aisdk',
  title: 'Vercel AI SDK',
  tables: new URL('./tables.sql', import.meta.url),
  server: fileURLToPath(new URL('./server.mjs', import.meta.url)),
  environment: plainSettings,
  connect: restClient(messageOf),
  hasIdleStreams: false,
  addTurns: (client, { sessionId, turns, text }) =>
    client.query(
      `INSERT INTO messages (id, chat_id, role, parts)
       SELECT gen_random_uuid(), $1, role, jsonb_build_array(jsonb_build_object('type', 'text', 'text', $3::text))
       FROM generate_series(1, $2::int), unnest(ARRAY['user', 'assistant']) role`,
      [sessionId, turns, text],
    ),
};
