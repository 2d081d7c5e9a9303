import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { graphiqlTabs, lastSession, tokenHeaders, tokenToCome } from './graphiql-tabs.js';

/**
 * Runs in the page before GraphiQL. It notes the id of every session that is made, and puts the last one into what is
 * sent, over fetch and WebSocket, in place of the word that stands for it in the tabs; the same with the token that was
 * sent last, which it keeps in memory alone. And it tells GraphiQL which of its stored tabs was open, which would
 * otherwise add an empty one with every reload.
 */
const pageScript = `
(() => {
  try {
    const { tabs, activeTabIndex } = JSON.parse(localStorage.getItem('graphiql:tabState') ?? '{}');
    const open = tabs?.[activeTabIndex];
    if (open) {
      localStorage.setItem('graphiql:query', open.query ?? '');
      localStorage.setItem('graphiql:variables', open.variables ?? '');
    }
  } catch {
    localStorage.removeItem('graphiql:tabState');
  }
  const key = 'chatsession:last-session';
  const placeholder = JSON.stringify(${JSON.stringify(lastSession)});
  const fill = (text) => {
    const id = localStorage.getItem(key);
    return id !== null && typeof text === 'string' ? text.replaceAll(placeholder, JSON.stringify(id)) : text;
  };
  const learn = async (response) => {
    const { data } = await response.json();
    if (typeof data?.createChatSession?.id === 'string') {
      localStorage.setItem(key, data.createChatSession.id);
    }
  };
  let token = null;
  const authorize = (given) => {
    const headers = new Headers(given);
    const authorization = headers.get('authorization');
    if (authorization === ${JSON.stringify(tokenToCome)}) {
      headers.set('authorization', token ?? authorization);
    } else {
      token = authorization ?? token;
    }
    return headers;
  };
  const { fetch } = window;
  window.fetch = async (resource, options = {}) => {
    const headers = authorize(options.headers);
    const response = await fetch(resource, { ...options, headers, body: fill(options.body) });
    if (response.headers.get('content-type')?.includes('json')) {
      await learn(response.clone()).catch(() => undefined);
    }
    return response;
  };
  const { send } = WebSocket.prototype;
  WebSocket.prototype.send = function (data) {
    return send.call(this, fill(data));
  };
})();
`;

/** GraphiQL's tabs jump aside under the first click on them, as if still moving to their place, and miss it. */
const pageStyle = '.graphiql-tab { transform: none !important; }';

interface Page {
  readonly compressed: Buffer;
  readonly etag: string;
  readonly scripts: readonly string[];
}

const hashOf = (script: string) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`;

async function build(authRequired: boolean): Promise<Page> {
  // Nine megabytes of JavaScript as text: loaded when somebody asks for the page.
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const html = renderGraphiQL({
    title: 'chatsession',
    // GraphiQL cannot send the headers of a tab over a WebSocket, so with tokens its streams are SSE.
    subscriptionsProtocol: authRequired ? 'SSE' : 'WS',
    // Streams too, which it would send by GET otherwise.
    method: 'POST',
    defaultTabs: graphiqlTabs({ authRequired }).map((tab) => ({ ...tab })),
    shouldPersistHeaders: false,
    ...(authRequired ? { headers: tokenHeaders, defaultEditorToolsVisibility: 'headers' as const } : {}),
  });
  const start = html.indexOf('<script>') + '<script>'.length;
  const graphiql = html.slice(start, html.lastIndexOf('</script>'));
  const whole = html.replace('<style>', () => `<script>${pageScript}</script>\n<style>${pageStyle}`);
  return {
    compressed: await promisify(gzip)(whole),
    etag: `"${createHash('sha256').update(whole).digest('base64url')}"`,
    scripts: [hashOf(pageScript), hashOf(graphiql)],
  };
}

/**
 * GraphiQL for browsers, from this server alone. The page is built on the first request and kept compressed; a
 * browser that has it asks only whether it changed.
 */
export function createGraphiQL({ authRequired }: { readonly authRequired: boolean }) {
  let page: Promise<Page> | null = null;
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    page ??= build(authRequired);
    const { compressed, etag, scripts } = await page;
    response.setHeader('etag', etag);
    response.setHeader('cache-control', 'no-cache');
    response.setHeader('vary', 'Accept, Accept-Encoding, Origin');
    if (request.headers['if-none-match'] === etag) {
      response.statusCode = 304;
      response.end();
      return;
    }
    // Not every browser takes 'self' for the WebSocket of its own host. The host was checked by then, or a token is.
    const host = /^[\w.:[\]-]+$/.test(request.headers.host ?? '') ? request.headers.host : '';
    response.setHeader(
      'content-security-policy',
      [
        "default-src 'none'",
        `script-src ${scripts.join(' ')}`,
        'worker-src blob:',
        "style-src 'unsafe-inline'",
        'img-src data:',
        'font-src data:',
        `connect-src 'self' ws://${host} wss://${host}`,
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
      ].join('; '),
    );
    response.setHeader('content-type', 'text/html; charset=utf-8');
    if (/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) {
      response.setHeader('content-encoding', 'gzip');
      response.end(compressed);
    } else {
      response.end(await promisify(gunzip)(compressed));
    }
  };
}
