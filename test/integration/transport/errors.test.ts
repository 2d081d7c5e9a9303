import { describe, expect, it } from 'vitest';
import { globalId } from '../../../src/graphql/ids.js';
import { gql } from '../../clients/http.js';
import { codesOf } from '../../clients/results.js';
import { audience, issuer, secret, sign } from '../../support/tokens.js';
import { useTransport } from '../../support/transport.js';
import { innerSecret } from '../../support/transport-schema.js';

describe('an error of a resolver', () => {
  it('keeps the sentence, the code and the details of a refusal', async () => {
    const { url } = await useTransport();
    const { status, body } = await gql(url, '{ refuses }');
    expect(status).toBe(200);
    expect(body).toEqual({
      data: { refuses: null },
      errors: [
        {
          message:
            'A turn is already running in this session: wait for its end, stop it, or send with whenBusy ENQUEUE or INTERRUPT.',
          locations: [{ line: 1, column: 3 }],
          path: ['refuses'],
          extensions: { code: 'TURN_IN_PROGRESS', retryable: true, turnId: globalId('Turn', 'turn-1') },
        },
      ],
    });
  });

  it.each([
    ['a bug', '{ fails }', 'INTERNAL'],
    ['a failed model call', '{ modelFails }', 'PROVIDER_AUTH'],
    ['a database that is away', '{ databaseFails }', 'UNAVAILABLE'],
    ['a value that does not fit its type', '{ tooLarge }', 'INTERNAL'],
    ['what a library threw in the form of GraphQL', '{ library }', 'INTERNAL'],
  ])('tells nothing but a code and the request id about %s', async (_what, query, code) => {
    const { url, log } = await useTransport();
    const { headers, body } = await gql(url, query, undefined, { headers: { 'x-request-id': 'request-7' } });
    expect(headers.get('x-request-id')).toBe('request-7');
    expect(body.errors).toMatchObject([{ extensions: { code, requestId: 'request-7' } }]);
    const text = JSON.stringify(body);
    expect(text).not.toContain(innerSecret);
    expect(text).not.toMatch(/2147483648|\.ts:|TypeError|ModelError|ECONNREFUSED/);
    await log.line((line) => line.requestId === 'request-7');
  });

  it('is found in the log by its request id, once, with its stack', async () => {
    const { url, log } = await useTransport();
    await gql(url, 'query Broken { fails }', undefined, { headers: { 'x-request-id': 'request-8' } });
    const line = await log.line(({ requestId }) => requestId === 'request-8');
    expect(line).toMatchObject({
      level: 'error',
      operation: 'Broken',
      codes: ['INTERNAL'],
      err: { type: 'TypeError', stack: expect.arrayContaining([expect.stringContaining('transport-schema.ts')]) },
    });
    expect(log.lines().filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  it('gets an id of this server when the given one is not fit for a log', async () => {
    const { url } = await useTransport();
    const { headers } = await gql(url, '{ hello }', undefined, { headers: { 'x-request-id': 'a b"c' } });
    expect(headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/);
  });
});

describe('an error of a request', () => {
  it.each([
    ['a document that does not parse', '{ hello', undefined, /Syntax Error/],
    ['a field that does not exist', '{ nope }', undefined, /Cannot query field "nope"/],
    ['a value of the wrong type', '{ number(value: "x") }', undefined, /Int cannot represent non-integer value: "x"/],
    ['a variable of the wrong type', 'query ($n: Int!) { number(value: $n) }', { n: 'x' }, /\$n.*Int cannot represent/],
    ['a variable that is missing', 'query ($n: Int!) { number(value: $n) }', {}, /\$n/],
    ['an operation that is not in the document', 'query A { hello } query B { hello }', undefined, /operation/i],
  ])('is BAD_USER_INPUT with a reason: %s', async (_what, query, variables, reason) => {
    const { url } = await useTransport();
    const { body } = await gql(url, query, variables);
    expect(codesOf(body)).toEqual(['BAD_USER_INPUT']);
    expect(body.errors?.[0]?.message).toMatch(reason);
    expect(body).not.toHaveProperty('data');
  });

  it('does not send a long value back to where it came from', async () => {
    const { url } = await useTransport();
    const { body } = await gql(url, 'query ($n: Int!) { number(value: $n) }', { n: 'x'.repeat(100_000) });
    expect(codesOf(body)).toEqual(['BAD_USER_INPUT']);
    expect(JSON.stringify(body).length).toBeLessThan(1_000);
  });

  it.each([
    ['XML', 'application/xml', '<query/>', 415],
    ['no JSON', 'application/json', '{', 400],
    ['JSON that is no object', 'application/json', '"{ hello }"', 400],
    ['a batch', 'application/json', '[{"query":"{ hello }"},{"query":"{ hello }"}]', 400],
    ['an unknown parameter', 'application/json', '{"query":"{ hello }","wat":1}', 400],
    ['variables that are a list', 'application/json', '{"query":"{ hello }","variables":[1]}', 400],
    ['no query', 'application/json', '{}', 200],
  ])('has a code and a sentence whatever the form was: %s', async (_what, type, body, status) => {
    const { url } = await useTransport();
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': type, accept: '*/*' }, body });
    const answer = (await response.json()) as { errors: unknown[] };
    expect(response.status).toBe(status);
    expect(answer.errors).toMatchObject([{ message: expect.any(String), extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(JSON.stringify(answer)).not.toMatch(/SyntaxError|originalError/);
  });

  it('is a clear refusal for @defer and @stream, which are not offered (A78)', async () => {
    const { url } = await useTransport();
    const { body } = await gql(url, '{ hello ... @defer { scope { owner } } }');
    expect(codesOf(body)).toEqual(['BAD_USER_INPUT']);
    expect(body.errors?.[0]?.message).toBe('Unknown directive "@defer".');
  });

  it('suggests names on a machine of one’s own and keeps them from strangers', async () => {
    const open = await useTransport();
    const closed = await useTransport({ auth: { jwtSecret: secret, jwksUrl: null, issuer, audience } });
    const headers = { authorization: `Bearer ${await sign()}` };
    const message = async (url: string, query: string, variables?: Record<string, unknown>) =>
      (await gql(url, query, variables, { headers })).body.errors?.[0]?.message;
    const send = 'mutation ($input: SendInput!) { send(input: $input) }';
    const misspelt = { input: { sessionId: '1', message: 'hi', mesage: 'hi' } };
    expect(await message(open.url, '{ helo }')).toMatch(/Did you mean "hello"/);
    expect(await message(closed.url, '{ helo }')).toBe('Cannot query field "helo" on type "Query".');
    expect(await message(open.url, send, misspelt)).toMatch(/Did you mean "message"/);
    expect(await message(closed.url, send, misspelt)).not.toMatch(/Did you mean/);
  });
});

describe('the log line of an operation', () => {
  it('says what kind it was and how it ended, and nothing of what was said', async () => {
    const { url, log } = await useTransport();
    const secretText = 'what the user wrote';
    await gql(url, 'query Echo($text: String!) { echo(text: $text) }', { text: secretText });
    const line = await log.line(({ operation }) => operation === 'Echo');
    expect(line).toEqual({
      level: 'info',
      time: expect.any(String),
      requestId: expect.any(String),
      transport: 'http',
      kind: 'query',
      operation: 'Echo',
      durationMs: expect.any(Number),
      msg: 'operation',
    });
    await gql(url, `query Inline { echo(text: "${secretText}") }`);
    await gql(url, `query Wrong { number(value: "${secretText}") }`);
    await log.line(({ operation }) => operation === 'Wrong');
    expect(log.text()).not.toContain(secretText);
  });

  it.each([
    ['{ refuses }', 'info', 'TURN_IN_PROGRESS'],
    ['{ modelFails }', 'warn', 'PROVIDER_AUTH'],
    ['{ databaseFails }', 'error', 'UNAVAILABLE'],
    ['{ nope }', 'info', 'BAD_USER_INPUT'],
  ])('has the level of who has to act: %s', async (query, level, code) => {
    const { url, log } = await useTransport();
    await gql(url, query);
    expect(await log.line(({ msg }) => msg === 'operation')).toMatchObject({ level, codes: [code] });
  });
});
