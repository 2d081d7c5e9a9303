import pg from 'pg';
import { expect, it } from 'vitest';
import { databaseIdentity } from '../../../src/db/queries/database-identity.js';
import { createTestDatabase } from '../../support/database.js';

async function identityOf(url: string): Promise<string> {
  const pool = new pg.Pool({ connectionString: url });
  try {
    return await databaseIdentity(pool);
  } finally {
    await pool.end();
  }
}

it('is the same however a database is reached, and another one for its copy', async () => {
  // Both are made from one template, so they share all that is stored in them.
  const [one, copy] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  const otherWay = new URL(one.url);
  otherWay.searchParams.set('application_name', 'other');
  otherWay.hostname = otherWay.hostname === 'localhost' ? '127.0.0.1' : 'localhost';
  const identity = await identityOf(one.url);
  expect(await identityOf(otherWay.href)).toBe(identity);
  expect(await identityOf(copy.url)).not.toBe(identity);
  await Promise.all([one.drop(), copy.drop()]);
});
