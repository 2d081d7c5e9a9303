import { splitGraphqlClient } from '../../clients/split-graphql.mjs';
import { plainSettings } from '../server-settings.mjs';

/** What the two GraphQL peers share. */
export const prismaPeer = {
  tables: new URL('./tables.sql', import.meta.url),
  environment: plainSettings,
  connect: splitGraphqlClient,
  addTurns: (client, { sessionId, turns, text }) =>
    client.query(
      `INSERT INTO "Message" ("sessionId", role, content)
       SELECT $1, role, $3 FROM generate_series(1, $2::int), unnest(ARRAY['user', 'assistant']) role`,
      [sessionId, turns, text],
    ),
};
