import { APIError } from 'openai';
import { describe, expect, it } from 'vitest';
import { ChatError } from '../../../src/errors.js';
import { describeError } from '../../../src/observability/error-record.js';
import { createLog } from '../../../src/observability/log.js';
import { collectLines } from '../../support/log-lines.js';

const canary = 'canary-7f3a91';

describe('the log', () => {
  it('writes one JSON object a line with a readable level and time', () => {
    const { destination, lines } = collectLines();
    createLog('info', destination).info({ requestId: 'r1' }, 'operation');
    expect(lines()).toEqual([
      { level: 'info', time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/), requestId: 'r1', msg: 'operation' },
    ]);
  });

  it('leaves out less severe lines', () => {
    const { destination, lines } = collectLines();
    createLog('warn', destination).info('quiet');
    expect(lines()).toEqual([]);
  });

  it('never writes the fields that hold secrets or contents, at any of the first three levels', () => {
    const { destination, text } = collectLines();
    const log = createLog('info', destination);
    const fields = { authorization: canary, password: canary, variables: { text: canary }, content: canary };
    log.info({ ...fields, request: { ...fields, headers: fields } }, 'request');
    log.child({ session: { systemPrompt: canary } }).info('child');
    expect(text()).not.toContain(canary);
    expect(text()).toContain('[redacted]');
  });

  it('keeps a count under such a name', () => {
    const { destination, lines } = collectLines();
    createLog('info', destination).info({ messages: 12 }, 'seeded');
    expect(lines()[0]).toMatchObject({ messages: 12 });
  });

  it.each([
    ['a bearer token', `refused Bearer ${canary}.x-y_z`],
    ['a JSON web token', `got eyJhbGciOiJIUzI1NiJ9.${canary}.sig`],
    ['a provider key', `key sk-proj-${canary} is wrong`],
    ['a password in a URL', `cannot reach postgres://chat:${canary}@db.internal:5432/chat`],
  ])('removes %s from inside of a text', (_form, message) => {
    const { destination, text } = collectLines();
    const log = createLog('info', destination);
    log.error({ err: new Error(message) }, message);
    expect(text()).not.toContain(canary);
  });

  it('removes the secrets of this process wherever they turn up', () => {
    const { destination, text } = collectLines();
    const log = createLog('info', destination, [`${canary}"with quotes`]);
    log.info({ anything: [`x ${canary}"with quotes y`] });
    expect(text()).not.toContain(canary);
  });
});

describe('an error in the log', () => {
  const record = (error: unknown) => JSON.stringify(describeError(error));

  it('keeps type, message, frames and causes', () => {
    const error = new ChatError('INTERNAL', undefined, { cause: new TypeError('x is not a function') });
    expect(describeError(error)).toMatchObject({
      type: 'ChatError',
      code: 'INTERNAL',
      stack: expect.arrayContaining([expect.stringMatching(/^at .*log\.test\.ts/)]),
      cause: { type: 'TypeError', message: 'x is not a function' },
    });
  });

  it.each<[string, () => unknown]>([
    [
      'a parser that quotes its input',
      () => {
        try {
          return JSON.parse(`{"a": "${canary}"`);
        } catch (error) {
          return error;
        }
      },
    ],
    [
      'Postgres, about a value',
      () =>
        Object.assign(new Error(`invalid input syntax for type uuid: "${canary}"`), {
          severity: 'ERROR',
          code: '22P02',
          detail: `Key (id)=(${canary}) exists.`,
        }),
    ],
    [
      'Prisma, about a call',
      () =>
        Object.assign(new Error(`Invalid invocation:\n{ content: "${canary}" }`), {
          name: 'PrismaClientValidationError',
        }),
    ],
    ['the SDK, about the words of a provider', () => new APIError(401, { message: canary }, canary, new Headers())],
    ['something that is no error', () => ({ message: canary })],
    ['the second line of a message', () => new Error(`first\n${canary}`)],
    ['a cause', () => new Error('outer', { cause: new SyntaxError(canary) })],
  ])('does not repeat contents from %s', (_name, make) => {
    expect(record(make())).not.toContain(canary);
  });

  it('ends a chain of causes that loops', () => {
    const error: Error & { cause?: unknown } = new Error('loop');
    error.cause = error;
    expect(record(error).match(/"loop"/g)).toHaveLength(4);
  });
});
