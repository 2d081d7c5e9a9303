import chromium from '@sparticuz/chromium';
import { type Browser, chromium as playwright } from 'playwright-core';

/**
 * A real browser, without a window. Its program comes with a package, so nothing is downloaded. The arguments that the
 * package suggests are for another place: they switch web security off.
 */
export const startBrowser = async (): Promise<Browser> =>
  playwright.launch({ args: ['--no-sandbox'], executablePath: await chromium.executablePath(), headless: true });
