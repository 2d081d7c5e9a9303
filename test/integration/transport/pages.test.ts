import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { audience, issuer, secret } from '../../support/tokens.js';
import { useTransport } from '../../support/transport.js';

const auth = { jwtSecret: secret, jwksUrl: null, issuer, audience };
const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
/** Addresses that a page would load something from. */
const loads = (page: string) => [...page.matchAll(/(?:src|href)="(?!data:)([^"]*)"/g)].map(([, address]) => address);

describe('the landing page', () => {
  it('tells a newcomer where everything is, with a command that works', async () => {
    const { base } = await useTransport();
    const response = await fetch(`${base}/`);
    const page = await response.text();
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page).toContain(`${base}/graphql`);
    expect(loads(page)).toEqual(['/graphql', '/healthz', '/readyz']);
    const body = /-d '(.*)'/.exec(page.replaceAll('&quot;', '"'))?.[1] as string;
    const answer = await fetch(`${base}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect(await answer.json()).toEqual({ data: { createChatSession: { id: 'session-one', model: 'demo' } } });
  });

  it('allows itself nothing but its own style', async () => {
    const { base } = await useTransport();
    const response = await fetch(`${base}/`);
    const style = /<style>([\s\S]*)<\/style>/.exec(await response.text())?.[1] as string;
    const hash = createHash('sha256').update(style).digest('base64');
    expect(response.headers.get('content-security-policy')).toContain(`default-src 'none'; style-src 'sha256-${hash}'`);
  });

  it('shows a token where one is needed, and no GraphiQL where there is none', async () => {
    const { base } = await useTransport({ auth, config: { graphiql: false } });
    const page = await (await fetch(`${base}/`)).text();
    expect(page).toContain('authorization: Bearer TOKEN');
    expect(page).not.toContain('GraphiQL');
  });

  it('does not carry markup from the name it was called by', async () => {
    const { port } = await useTransport({ auth });
    const { request } = await import('node:http');
    const page = await new Promise<string>((resolve) => {
      request({ port, path: '/', headers: { host: '"><script>alert(1)</script>' } }, async (response) => {
        let text = '';
        for await (const chunk of response) {
          text += chunk;
        }
        resolve(text);
      }).end();
    });
    expect(page).not.toContain('<script>');
  });
});

describe('health checks', () => {
  it('tell whether work can be done', async () => {
    const server = await useTransport();
    const ready = async () => {
      const response = await fetch(`${server.base}/readyz`);
      return [response.status, await response.json(), response.headers.get('cache-control')];
    };
    expect(await ready()).toEqual([200, { status: 'ready' }, 'no-store']);
    server.ready = async () => false;
    expect(await ready()).toEqual([503, { status: 'unavailable' }, 'no-store']);
    server.ready = async () => {
      throw new Error('postgres://user:secret@db');
    };
    expect(await ready()).toEqual([503, { status: 'unavailable' }, 'no-store']);
    expect((await fetch(`${server.base}/healthz`)).status).toBe(200);
  });

  it('do not wait for a database that does not answer', async () => {
    const server = await useTransport({ timing: { readiness: 100 } });
    server.ready = () => new Promise(() => {});
    const startedAt = performance.now();
    expect((await fetch(`${server.base}/readyz`)).status).toBe(503);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });

  it('ask the database once, however many ask them at a time', async () => {
    const server = await useTransport();
    let asked = 0;
    server.ready = async () => {
      asked += 1;
      await new Promise((resolve) => setTimeout(resolve, 200));
      return true;
    };
    const answers = await Promise.all(Array.from({ length: 50 }, () => fetch(`${server.base}/readyz`)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
    expect(asked).toBeLessThan(5);
  });

  it('need neither a token nor a name', async () => {
    const { base } = await useTransport({ auth });
    expect((await fetch(`${base}/healthz`)).status).toBe(200);
    expect((await fetch(`${base}/readyz`, { method: 'HEAD' })).status).toBe(200);
  });
});

describe('any other path', () => {
  it.each(['/nowhere', '/graphql/', '/graphql/stream', '/health', '/favicon.ico', '//', '/..%2f'])(
    'is not there, in JSON: %s',
    async (path) => {
      const { base } = await useTransport();
      const response = await fetch(base + path, { method: 'POST', body: '{}' });
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'NOT_FOUND' } }] });
    },
  );
});

describe('GraphiQL', () => {
  it('comes compressed, from this server alone, and once', async () => {
    const { url } = await useTransport();
    const response = await fetch(url, { headers: html });
    const page = await response.text();
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(Number(response.headers.get('content-length'))).toBeLessThan(3_000_000);
    expect(loads(page.slice(0, page.indexOf('<style>')))).toEqual([]);
    const etag = response.headers.get('etag') as string;
    const again = await fetch(url, { headers: { ...html, 'if-none-match': etag } });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const plain = await fetch(url, { headers: { ...html, 'accept-encoding': 'identity' } });
    expect(plain.headers.has('content-encoding')).toBe(false);
    expect(await plain.text()).toBe(page);
  });

  it('is not served where it is switched off', async () => {
    const { url } = await useTransport({ config: { graphiql: false } });
    const response = await fetch(url, { headers: html });
    expect([response.status, response.headers.get('content-type')]).toEqual([403, 'application/json; charset=utf-8']);
  });

  it('is not put into a frame of another page', async () => {
    const { url } = await useTransport();
    const policy = (await fetch(url, { headers: html, method: 'GET' })).headers.get('content-security-policy');
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/script-src[^;]*'unsafe/);
  });
});
