import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';

const style = `
  :root { color-scheme: light dark; font: 16px/1.55 system-ui, sans-serif; }
  body { max-width: 44rem; margin: 3rem auto; padding: 0 1.25rem; }
  h1 { font-size: 1.5rem; margin-bottom: .25rem; }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: .4rem 1.25rem; margin: 1.5rem 0; }
  dt { opacity: .7; } dd { margin: 0; }
  pre { padding: .9rem 1rem; border: 1px solid #8886; border-radius: .5rem; overflow-x: auto; }
`;

const escapeHtml = (text: string) =>
  text.replace(/[&<>"]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[character] ?? '');

function page({ base, graphiql, authRequired }: LandingPage): string {
  const auth = authRequired ? ` \\\n  -H 'authorization: Bearer TOKEN'` : '';
  const curl = `curl ${base}/graphql${auth} \\\n  -H 'content-type: application/json' \\\n  -d '{"query":"mutation { createChatSession(input: {}) { id model } }"}'`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>chatsession</title>
<style>${style}</style>
<h1>chatsession</h1>
<p>Multi-turn LLM chat as a server: one typed GraphQL schema, everything kept in Postgres.</p>
<dl>
<dt>Endpoint</dt><dd><code>${escapeHtml(base)}/graphql</code> for HTTP, server-sent events and WebSocket (graphql-transport-ws)</dd>
${graphiql ? '<dt>GraphiQL</dt><dd><a href="/graphql">/graphql</a>, with ready-made tabs</dd>' : ''}
<dt>Health</dt><dd><a href="/healthz">/healthz</a> and <a href="/readyz">/readyz</a></dd>
</dl>
<p>A first session from the command line:</p>
<pre><code>${escapeHtml(curl)}</code></pre>
</html>
`;
}

export interface LandingPage {
  /** Scheme, host and port as the browser named them. */
  readonly base: string;
  readonly graphiql: boolean;
  readonly authRequired: boolean;
}

const styleHash = createHash('sha256').update(style).digest('base64');

/** The page at /, for somebody who has just started the server. It needs nothing from any host. */
export function answerLandingPage(response: ServerResponse, options: LandingPage): void {
  response.setHeader('content-type', 'text/html; charset=utf-8');
  response.setHeader(
    'content-security-policy',
    `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  );
  response.end(page(options));
}
