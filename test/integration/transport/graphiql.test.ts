import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { startBrowser } from '../../support/browser.js';
import { chatClient, openEvents } from '../../support/client.js';
import { turnEvents } from '../../support/documents.js';
import { finish, gate, pause, silence, text, usage } from '../../support/script.js';
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

/** Long results are seen as a whole in a very tall window only. */
async function visit({ url }: TestApp, { height = 2400 } = {}): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1400, height } });
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

/** As a hand does it: once, where the thing is seen now, whatever it does under the mouse. */
async function press(page: Page, target: Locator): Promise<void> {
  const { x, y, width, height } = (await target.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  await page.mouse.click(x + width / 2, y + height / 2);
}

const tabNames = ['CreateSession', 'Send', 'Stream', 'SeedHistory', 'HistoryAndCost', 'Stop'];
const tabsOf = (page: Page) => page.locator('.graphiql-tab-button').allTextContents();
const openTab = (page: Page) => page.locator('.graphiql-tab-active .graphiql-tab-button').textContent();

async function open(page: Page, tab: string): Promise<void> {
  await press(page, page.locator('.graphiql-tab-button', { hasText: tab }));
  await aMoment(page);
  expect(await openTab(page)).toBe(tab);
}

/** Presses play in the open tab and awaits a result that holds all of these texts. */
async function play(page: Page, ...texts: string[]): Promise<string> {
  await press(page, page.locator('.graphiql-execute-button'));
  const wanted = texts.map((part) => part.replaceAll(' ', ''));
  for (;;) {
    const seen = await shown(page);
    if (wanted.every((part) => seen.includes(part))) {
      return seen;
    }
    await page.waitForTimeout(50);
  }
}

async function run(page: Page, tab: string, ...texts: string[]): Promise<string> {
  await open(page, tab);
  return play(page, ...texts);
}

async function reload(page: Page): Promise<void> {
  await page.reload();
  await page.locator('.graphiql-tab').first().waitFor();
  await aMoment(page);
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
    expect(await tabsOf(page)).toEqual(tabNames);
    // At once: a click on the first tab would give it variables that it does not show at first.
    await aMoment(page);
    await play(page, 'My first chat');
    await run(page, 'Send', 'echo: Hello, who are you?');
    await run(page, 'Stream', 'TurnCompleted', 'echo: Tell me a short story.');
    await run(page, 'SeedHistory', 'seededCount');
    const seen = await run(page, 'HistoryAndCost', 'Nice to meet you, Ada.', 'totalCostUsd');
    expect(seen).toContain('"turnCount":2');
    await run(page, 'Stop', '"stop":null');
    expect(app.provider.requests).toHaveLength(2);
    expect(trouble).toEqual([]);
  }, 40_000);

  it('opens each tab with the first click of the mouse, and sees its lines as a whole', async () => {
    const { page } = await visit(await start(), { height: 900 });
    for (const tab of tabNames) {
      await open(page, tab);
      const editor = page.locator('.graphiql-query-editor .editor-scrollable');
      const { x: left, width: all } = (await editor.boundingBox()) ?? { x: 0, width: 0 };
      const lines = await page.locator('.graphiql-query-editor .view-line > span').all();
      expect(lines.length).toBeGreaterThan(10);
      for (const line of lines) {
        const { x, width } = (await line.boundingBox()) ?? { x: 0, width: Number.POSITIVE_INFINITY };
        expect(x + width, (await line.textContent()) ?? '').toBeLessThanOrEqual(left + all);
      }
    }
    expect(await tabsOf(page)).toEqual(tabNames);
  }, 40_000);

  it('comes back to the open tab, and to no empty one, with a reload before anything ran', async () => {
    const { page } = await visit(await start(), { height: 900 });
    // GraphiQL stores which tab is open half a second later.
    await page.waitForFunction(() => localStorage.getItem('graphiql:tabState')?.includes('"activeTabIndex":0'));
    await reload(page);
    expect(await tabsOf(page)).toEqual(tabNames);
    expect(await openTab(page)).toBe('CreateSession');
    await open(page, 'SeedHistory');
    await page.waitForFunction(() => localStorage.getItem('graphiql:tabState')?.includes('"activeTabIndex":3'));
    await reload(page);
    expect(await tabsOf(page)).toEqual(tabNames);
    expect(await openTab(page)).toBe('SeedHistory');
  }, 40_000);

  it('only leaves a turn with the square button, and finds the whole of it in the history', async () => {
    const app = await start();
    const { page } = await visit(app);
    await run(page, 'CreateSession', 'My first chat');
    const rest = gate();
    app.provider.enqueue([
      text('Once '),
      pause(rest),
      text('upon a time.'),
      finish(),
      usage({ prompt: 9, completion: 5 }),
    ]);
    await run(page, 'Stream', 'TextDelta', 'Once');
    await press(page, page.locator('.graphiql-execute-button'));
    await aMoment(page);
    const id = await page.evaluate(() => localStorage.getItem('chatsession:last-session'));
    const { data } = await chatClient(app.url).run('query ($id: ID!) { chatSession(id: $id) { activeTurn { id } } }', {
      id,
    });
    const left = openEvents(app.url, 'ws', turnEvents, { turnId: data.chatSession.activeTurn.id });
    rest.open();
    await left.until(({ __typename }) => __typename === 'TurnCompleted');
    left.leave();
    await run(page, 'HistoryAndCost', '"content":"Once upon a time.","status":"COMPLETE"');
  }, 40_000);

  it('stops a turn with the last tab, and keeps what had come', async () => {
    const app = await start();
    const { page } = await visit(app);
    await run(page, 'CreateSession', 'My first chat');
    app.provider.enqueue([text('Once upon'), silence()]);
    await run(page, 'Stream', 'TextDelta', 'Once upon');
    await run(page, 'Stop', '"status":"STOPPED"', '"content":"Once upon"', '"finishReason":"STOPPED"');
    await app.provider.requests[0]?.hungUp;
  }, 40_000);

  it('finds everything again after a reload, and can begin anew', async () => {
    const app = await start();
    const { page, trouble } = await visit(app);
    await run(page, 'CreateSession', 'My first chat');
    await reload(page);
    expect(await tabsOf(page)).toEqual(tabNames);
    await run(page, 'Send', 'echo: Hello, who are you?');
    await run(page, 'CreateSession', 'My first chat');
    await run(page, 'HistoryAndCost', 'totalCostUsd');
    expect(await shown(page)).toContain('"turnCount":0');
    expect(trouble).toEqual([]);
  }, 40_000);

  it('signs in once with the Headers pane, for queries and for streams alike (A69)', async () => {
    const app = await start({ AUTH_JWT_SECRET: secret });
    const { page } = await visit(app);
    await aMoment(page);
    await play(page, 'UNAUTHENTICATED');
    const token = await sign({ iss: undefined, aud: undefined } as never);
    // A double click on TOKEN, the last word of its line, takes it away.
    const value = page.locator('.graphiql-editor-tool span', { hasText: /^"Bearer.TOKEN"$/ }).last();
    const { width } = (await value.boundingBox()) ?? { width: 0 };
    await value.dblclick({ position: { x: width - 30, y: 8 } });
    await page.keyboard.insertText(token);
    await aMoment(page);
    await play(page, 'My first chat');
    await run(page, 'Stream', 'TurnCompleted', 'echo: Tell me a short story.');
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(token);
  }, 40_000);
});
