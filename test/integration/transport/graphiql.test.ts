import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { startBrowser } from '../../support/browser.js';
import { secret, sign } from '../../support/tokens.js';

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

interface Visit {
  readonly page: Page;
  /** Requests to other hosts and messages of a page that is not well. */
  readonly trouble: string[];
}

async function visit({ url }: TestApp): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1400, height: 2400 } });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const trouble: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith(`blob:${url}`)) {
      trouble.push(request.url().slice(0, 200));
    }
  });
  page.on('console', (message) => {
    if (message.type() === 'error') {
      trouble.push(message.text());
    }
  });
  page.on('pageerror', (error) => trouble.push(String(error)));
  await page.goto(`${url}/graphql`);
  await page.locator('.graphiql-tab').first().waitFor();
  return { page, trouble };
}

/** What the result pane shows. Long lines wrap and spaces do not break there, so it is told without either. */
const shown = async (page: Page): Promise<string> =>
  ((await page.locator('.result-window').textContent()) ?? '').replace(/[\s\u00a0]/g, '');

/** GraphiQL finds out what an editor holds a tenth of a second after it has changed; no hand is faster. */
const aMoment = (page: Page) => page.waitForTimeout(300);

/** Presses play in a tab and awaits a result that holds all of these texts. */
async function run(page: Page, tab: string, ...texts: string[]): Promise<string> {
  await page.locator('.graphiql-tab-button', { hasText: tab }).click();
  await aMoment(page);
  await page.locator('.graphiql-execute-button').click();
  const wanted = texts.map((text) => text.replaceAll(' ', ''));
  for (;;) {
    const text = await shown(page);
    if (wanted.every((part) => text.includes(part))) {
      return text;
    }
    await page.waitForTimeout(50);
  }
}

const start = async (env: Record<string, string> = {}) => {
  const app = await startTestApp(env);
  onTestFinished(() => app.close());
  return app;
};

describe('a newcomer in GraphiQL', () => {
  it('gets from nothing to a streamed answer and its price by pressing play in one tab after the other', async () => {
    const app = await start();
    const { page, trouble } = await visit(app);
    expect(await page.locator('.graphiql-tab').allInnerTexts()).toEqual([
      'CreateSession',
      'Send',
      'Stream',
      'SeedHistory',
      'HistoryAndCost',
      'Stop',
    ]);
    await run(page, 'CreateSession', 'My first chat');
    await run(page, 'Send', 'echo: Hello, who are you?');
    await run(page, 'Stream', 'TurnCompleted', 'echo: Tell me a short story.');
    await run(page, 'SeedHistory', 'seededCount');
    const seen = await run(page, 'HistoryAndCost', 'Nice to meet you, Ada.', 'totalCostUsd');
    expect(seen).toContain('"turnCount":2');
    await run(page, 'Stop', '"stop":null');
    expect(app.provider.requests).toHaveLength(2);
    expect(trouble).toEqual([]);
  }, 40_000);

  it('finds everything again after a reload, and can begin anew', async () => {
    const app = await start();
    const { page, trouble } = await visit(app);
    await run(page, 'CreateSession', 'My first chat');
    await page.reload();
    await page.locator('.graphiql-tab').first().waitFor();
    expect(await page.locator('.graphiql-tab').count()).toBe(6);
    await run(page, 'Send', 'echo: Hello, who are you?');
    await run(page, 'CreateSession', 'My first chat');
    await run(page, 'HistoryAndCost', 'totalCostUsd');
    expect(await shown(page)).toContain('"turnCount":0');
    expect(trouble).toEqual([]);
  }, 40_000);

  it('signs in once with the Headers pane, for queries and for streams alike (A69)', async () => {
    const app = await start({ AUTH_JWT_SECRET: secret });
    const { page } = await visit(app);
    await run(page, 'CreateSession', 'UNAUTHENTICATED');
    const token = await sign({ iss: undefined, aud: undefined } as never);
    // A double click on TOKEN, the last word of its line, takes it away.
    const value = page.locator('.graphiql-editor-tool span', { hasText: /^"Bearer.TOKEN"$/ }).last();
    const { width } = (await value.boundingBox()) ?? { width: 0 };
    await value.dblclick({ position: { x: width - 30, y: 8 } });
    await page.keyboard.insertText(token);
    await aMoment(page);
    await run(page, 'CreateSession', 'My first chat');
    await run(page, 'Stream', 'TurnCompleted', 'echo: Tell me a short story.');
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(token);
  }, 40_000);
});
