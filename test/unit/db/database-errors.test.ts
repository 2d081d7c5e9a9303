import { describe, expect, it } from 'vitest';
import { describeDatabaseError, isDatabaseUnavailable, isUniqueViolation } from '../../../src/db/database-errors.js';

const coded = (code: string, message = 'failed') => Object.assign(new Error(message), { code });
const fromAdapter = (cause: object) =>
  Object.assign(new Error('driver adapter'), { name: 'DriverAdapterError', cause });

describe('isDatabaseUnavailable', () => {
  it.each([
    ['a refused connection', coded('ECONNREFUSED')],
    ['a name that is not found', coded('ENOTFOUND')],
    ['all addresses of a name refused', new AggregateError([coded('ECONNREFUSED'), coded('ECONNREFUSED')])],
    ['a broken connection', coded('08006')],
    ['a server that shuts down', coded('57P01')],
    ['a server that starts', coded('57P03')],
    ['too many connections', coded('53300')],
    ['a full disk', coded('53100')],
    ['a statement timeout', coded('57014')],
    ['a primary that became a standby', coded('25006')],
    ['no connection of the pool in time', new Error('timeout exceeded when trying to connect')],
    ['no connection to the server in time', new Error('Connection terminated due to connection timeout')],
    ['no answer of the server', new Error('Query read timeout')],
    ['a cut connection', new Error('Connection terminated unexpectedly')],
    ['a closed pool', new Error('Cannot use a pool after calling end on the pool')],
    ['Prisma: unreachable', coded('P1001')],
    ['Prisma: closed', coded('P1017')],
    ['Prisma: no transaction in time', coded('P2028', 'Unable to start a transaction in the given time.')],
    ['adapter: unreachable', fromAdapter({ kind: 'DatabaseNotReachable' })],
    ['adapter: closed', fromAdapter({ kind: 'ConnectionClosed' })],
    ['adapter: an SQLSTATE', fromAdapter({ kind: 'postgres', originalCode: '57P01' })],
    [
      'a raw query of Prisma',
      Object.assign(coded('P2010'), { meta: { driverAdapterError: fromAdapter(coded('57P01')) } }),
    ],
    ['any of these as a cause', new Error('could not load the session', { cause: coded('ECONNRESET') })],
  ])('is true for %s', (_, error) => {
    expect(isDatabaseUnavailable(error)).toBe(true);
  });

  it.each([
    ['a unique violation', coded('23505')],
    ['a check', coded('23514')],
    ['a NUL in a text', coded('22021')],
    ['a serialization failure', coded('40001')],
    ['a missing table', coded('42P01')],
    ['Prisma: a unique violation', coded('P2002')],
    ['Prisma: a transaction that took too long', coded('P2028', 'Transaction already closed')],
    ['a bug', new TypeError('undefined is not a function')],
    ['a text', 'ECONNREFUSED'],
    ['nothing', null],
  ])('is false for %s', (_, error) => {
    expect(isDatabaseUnavailable(error)).toBe(false);
  });

  it('ends on an error that is its own cause', () => {
    const error = new Error('round');
    error.cause = error;
    expect(isDatabaseUnavailable(error)).toBe(false);
  });
});

describe('isUniqueViolation', () => {
  it('finds the constraint in an error of pg and in one that Prisma wraps', () => {
    const fromPg = Object.assign(coded('23505'), { constraint: 'turns_pkey' });
    const wrapped = fromAdapter({ kind: 'UniqueConstraintViolation', constraint: { index: 'turns_pkey' } });
    const fromPrisma = Object.assign(coded('P2002'), { meta: { driverAdapterError: wrapped } });
    for (const error of [fromPg, fromPrisma]) {
      expect(isUniqueViolation(error)).toBe(true);
      expect(isUniqueViolation(error, 'turns_pkey')).toBe(true);
      expect(isUniqueViolation(error, 'messages_pkey')).toBe(false);
    }
    expect(isUniqueViolation(coded('23514'))).toBe(false);
  });
});

describe('describeDatabaseError', () => {
  it('keeps code and message, and nothing that hangs on the error', () => {
    const error = Object.assign(coded('57P01', 'terminating connection'), { client: { password: 'secret' } });
    expect(describeDatabaseError(error)).toEqual({ code: '57P01', reason: 'terminating connection' });
    expect(describeDatabaseError(new AggregateError([coded('ECONNREFUSED')]))).toEqual({ reason: 'AggregateError' });
  });
});
