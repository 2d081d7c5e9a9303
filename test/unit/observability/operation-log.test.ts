import { describe, expect, it } from 'vitest';
import { ChatError } from '../../../src/errors.js';
import { createLog } from '../../../src/observability/log.js';
import { createOperationLog } from '../../../src/observability/operation-log.js';
import { collectLines } from '../../support/log-lines.js';

function start(transport: 'http' | 'ws' = 'http') {
  const { destination, lines } = collectLines();
  let now = 1_000;
  const begin = createOperationLog({ log: createLog('info', destination), now: () => now });
  return {
    record: begin({ requestId: 'request-1', transport }),
    lines,
    wait(ms: number) {
      now += ms;
    },
  };
}

describe('the record of an operation', () => {
  it('is one line at the end, with how long it took', () => {
    const { record, lines, wait } = start();
    record.describe('query', 'History');
    wait(12.4);
    record.end();
    wait(5);
    record.end(true);
    expect(lines()).toEqual([
      {
        level: 'info',
        time: expect.any(String),
        requestId: 'request-1',
        transport: 'http',
        kind: 'query',
        operation: 'History',
        durationMs: 12,
        msg: 'operation',
      },
    ]);
  });

  it('counts the results of a subscription and says how it was asked for', () => {
    const { record, lines } = start();
    record.describe('subscription', null);
    record.sent();
    record.sent();
    record.end(true);
    expect(lines()).toMatchObject([{ transport: 'sse', results: 2, left: true, operation: null }]);
  });

  it('keeps a name of any length short', () => {
    const { record, lines } = start();
    record.describe('query', 'a'.repeat(10_000));
    record.end();
    expect(lines()[0]?.operation).toHaveLength(100);
  });

  it('has the level of the worst of its errors, and each code once', () => {
    const { record, lines } = start('ws');
    const bug = new ChatError('INTERNAL', undefined, { cause: new TypeError('x is not a function') });
    record.failed([
      { code: 'NOT_FOUND', cause: new ChatError('NOT_FOUND') },
      { code: 'INTERNAL', cause: bug },
      { code: 'NOT_FOUND', cause: new ChatError('NOT_FOUND') },
      { code: 'PROVIDER_TIMEOUT', cause: null },
    ]);
    record.end();
    expect(lines()).toMatchObject([
      {
        level: 'error',
        codes: ['NOT_FOUND', 'INTERNAL', 'PROVIDER_TIMEOUT'],
        errors: 4,
        err: { type: 'ChatError', cause: { type: 'TypeError', message: 'x is not a function' } },
      },
    ]);
  });

  it('is no reason to worry when the caller has to act', () => {
    const { record, lines } = start();
    record.failed([{ code: 'TURN_IN_PROGRESS', cause: new ChatError('TURN_IN_PROGRESS') }]);
    record.end();
    expect(lines()).toMatchObject([{ level: 'info', codes: ['TURN_IN_PROGRESS'] }]);
    expect(lines()[0]).not.toHaveProperty('err');
  });
});
