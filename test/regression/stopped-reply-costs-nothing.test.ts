import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openTurn } from '../support/client.js';
import { runSql } from '../support/database-server.js';
import * as script from '../support/script.js';

// Field reports A50 and A51: a stopped reply leaves its usage at zero, or the stop does not reach the provider, which
// writes and bills to the end.
let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp();
  client = chatClient(app.url);
});
afterAll(() => app.close());

it.each(Array.from({ length: 20 }, (_, at) => at + 1))(
  'a reply that is stopped after %i pieces is charged once, by an estimate, and its provider is let go',
  async (pieces) => {
    const sessionId = await client.createSession();
    const count = app.provider.requests.length;
    const written = Array.from({ length: pieces }, (_, at) => script.text(`piece ${at} `));
    app.provider.enqueue([...written, script.silence()]);
    const turn = openTurn(app.url, 'ws', sessionId, 'go');
    let text = '';
    await turn.until((event) => {
      if (event.__typename === 'TextDelta') text += event.delta;
      return text.length === written.length * 8 + Math.max(0, pieces - 10);
    });
    await client.stop(sessionId);
    const request = await app.provider.request(count);
    const stoppedAt = performance.now();
    await request.hungUp;
    expect(performance.now() - stoppedAt).toBeLessThan(1_000);
    expect((await turn.rest()).at(-1)).toMatchObject({ __typename: 'TurnStopped' });

    const id = Buffer.from(sessionId, 'base64').toString().split(':')[1];
    const { rows } = await runSql<Record<string, unknown>>(
      app.database.url,
      `SELECT c.status, c.usage_estimated, c.input_tokens > 0 AS input, c.output_tokens BETWEEN 1 AND c.held_tokens AS output,
              c.cost_usd > 0 AND c.cost_usd = s.total_cost_usd AND c.cost_usd = b.spent_cost_usd AS cost,
              b.held_cost_usd = 0 AND b.held_tokens = 0 AS let_go
       FROM model_calls c JOIN chat_sessions s ON s.id = c.session_id JOIN budgets b ON b.id = s.budget_id WHERE s.id = '${id}'`,
    );
    expect(rows).toEqual([
      { status: 'ABORTED', usage_estimated: true, input: true, output: true, cost: true, let_go: true },
    ]);
    expect(app.provider.requests).toHaveLength(count + 1);
  },
);
