import { expect, it } from 'vitest';
import { readerOf } from '../../src/agent/tools/json-schema.js';
import { bytesInUse } from '../support/memory.js';

const rounds = 1_000;

/** Another schema each time, of twenty properties. */
const schema = (round: number) => ({
  type: 'object',
  properties: Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => [`p${round}_${at}`, { type: 'string', enum: [`a${round}`, 'b'] }]),
  ),
});

it('a schema that is no longer used leaves nothing behind', () => {
  for (let round = 0; round < 200; round += 1) readerOf(schema(-1 - round));
  const before = bytesInUse();
  for (let round = 0; round < rounds; round += 1) readerOf(schema(round));
  expect((bytesInUse() - before) / rounds).toBeLessThan(4_096);
});
