import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe } from 'vitest';
import { CONSOLE_FOLDER } from '../../src/kit/program-files.ts';
import type { TestGateway } from '../e2e/harness.ts';

/** Where Debian and others put the browser. */
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const executable = process.env.CHROMIUM ?? PLACES.find((path) => existsSync(path));

/** Why the views cannot be tried here; undefined = they can. */
export const noBrowserReason =
  executable === undefined
    ? 'no Chromium: install Debian’s package `chromium`, or set CHROMIUM to the path of one'
    : existsSync(CONSOLE_FOLDER)
      ? undefined
      : 'the console was not built: run `npm run build`';

if (noBrowserReason !== undefined && process.env.CI !== undefined) throw new Error(noBrowserReason);

/** A suite in a browser. Where there is none it is left out, and its title says why. */
export function describeInBrowser(title: string, define: (browser: () => Browser) => void): void {
  if (noBrowserReason !== undefined) {
    describe.skip(`${title} (${noBrowserReason})`, () => define(() => undefined as never));
    return;
  }
  // A browser shares the cores with all other tests and may be late: what fails twice, fails.
  describe(title, { retry: 1 }, () => {
    let browser: Browser;
    beforeAll(async () => {
      // Root has no sandbox for browsers; the pages are our own.
      browser = await chromium.launch({ executablePath: executable, args: ['--no-sandbox'] });
    });
    afterAll(() => browser.close());
    define(() => browser);
  });
}

/** A page of the console, and everything that went wrong on it. */
export interface ConsolePage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors, refused scripts and styles, and requests to other hosts. Empty on a page that is well. */
  readonly problems: readonly string[];
}

interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: 'light' | 'dark';
}

/** Opens a page of its own, which is not signed in. */
export async function openPage(
  browser: Browser,
  { origin }: Pick<TestGateway, 'origin'>,
  { width = 1440, height = 900, theme = 'light' }: PageOptions = {},
): Promise<ConsolePage> {
  const context = await browser.newContext({
    baseURL: origin,
    viewport: { width, height },
    colorScheme: theme,
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
  });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('console', (message) => {
    // A refusal of the gateway is written here too; views show it in their own words.
    const isRefusal = /Failed to load resource/.test(message.text());
    if (message.type() === 'error' && !isRefusal) problems.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const { protocol, origin: target } = new URL(request.url());
    if (protocol.startsWith('http') && target !== origin) problems.push(`outside: ${request.url()}`);
  });
  return { page, context, problems };
}

/** Signs in on the page, and waits for the view of the address. */
export async function signInAt({ page }: ConsolePage, address: string, key: string): Promise<void> {
  await page.goto(address);
  await page.getByLabel('Key', { exact: true }).fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('nav.nav .nav-foot').waitFor({ state: 'attached' });
}

const AXE_FILE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** What axe-core finds serious or critical on the page as it is now: the rule and the first element of each. */
export async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(readFileSync(AXE_FILE, 'utf8'));
  return page.evaluate<string[]>(`axe.run({ resultTypes: ['violations'] }).then(({ violations }) =>
    violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => id + ': ' + nodes[0].html))`);
}
