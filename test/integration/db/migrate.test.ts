import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../../src/db/migrate.js';
import { createTestDatabase } from '../../support/database.js';
import { silentLog } from '../../support/log.js';

it('finds nothing to do in a copy of the template', async () => {
  const t = performance.now();
  const database = await createTestDatabase();
  console.log('clone', performance.now() - t);
  const t1 = performance.now();
  expect(await migrate(database.url, silentLog)).toEqual([]);
  console.log('noop migrate', performance.now() - t1);
  await database.drop();
});
