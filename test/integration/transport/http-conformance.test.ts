import { auditServer } from 'graphql-http';
import { describe, expect, it } from 'vitest';
import { audience, issuer, secret, sign } from '../../support/tokens.js';
import { useTransport } from '../../support/transport.js';

/** Optional forms of GET, which a browser could be made to send for another page; see request-checks.ts. */
const declined = ['5A70 notice', '6A70 notice', 'D6D5 notice'];

const notPassed = async (url: string, fetchFn: typeof fetch = fetch) => {
  const results = await auditServer({ url, fetchFn });
  expect(results).toHaveLength(61);
  return results.flatMap(({ id, status }) => (status === 'ok' ? [] : [`${id} ${status}`])).sort();
};

describe('GraphQL over HTTP', () => {
  it('passes every audit of graphql-http but the optional forms of GET', async () => {
    const { url } = await useTransport();
    expect(await notPassed(url)).toEqual(declined);
  });

  it('passes them as strictly for a server that asks for tokens', async () => {
    const { url } = await useTransport({ auth: { jwtSecret: secret, jwksUrl: null, issuer, audience } });
    const authorization = `Bearer ${await sign()}`;
    const authorized: typeof fetch = (resource, init) =>
      fetch(resource, { ...init, headers: { ...(init?.headers as Record<string, string>), authorization } });
    expect(await notPassed(url, authorized)).toEqual(declined);
  });

  it.each(['APPLICATION/JSON', 'Application/Json; Charset=UTF-8', 'application/json ; charset=utf-8'])(
    'takes a media type however it is written: %s',
    async (type) => {
      const { url } = await useTransport();
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': type, accept: 'APPLICATION/JSON' },
        body: '{"query":"{ hello }"}',
      });
      expect([response.status, await response.json()]).toEqual([200, { data: { hello: expect.any(String) } }]);
    },
  );

  it('answers a GET for a query that carries the header browsers have to ask for', async () => {
    const { url } = await useTransport();
    const query = encodeURIComponent('query Named($text: String!) { echo(text: $text) }');
    const variables = encodeURIComponent('{"text":"hi"}');
    const response = await fetch(`${url}?query=${query}&variables=${variables}&operationName=Named`, {
      headers: { accept: 'application/json', 'graphql-require-preflight': '1' },
    });
    expect([response.status, await response.json()]).toEqual([200, { data: { echo: 'hi' } }]);
  });

  it.each([
    ['variables', 'query={hello}&variables=nope'],
    ['extensions', 'query={hello}&extensions={'],
  ])('names a parameter of a GET that is no JSON: %s', async (name, parameters) => {
    const { url } = await useTransport();
    const response = await fetch(`${url}?${parameters}`, { headers: { 'graphql-require-preflight': '1' } });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      errors: [{ message: `The parameter ${name} is not valid JSON.`, extensions: { code: 'BAD_USER_INPUT' } }],
    });
  });
});
