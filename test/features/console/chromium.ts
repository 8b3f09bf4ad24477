import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium } from 'playwright-core';
import { CONSOLE_FOLDER } from '../../../src/kit/program-files.ts';
import type { TestGateway } from '../../kit/gateway-harness.ts';

/** Where Debian and others put the browser. The first has no windows at all, and takes half the time. */
const PLACES = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

const executable = process.env.CHROMIUM ?? PLACES.find((path) => existsSync(path));

/** Why the views cannot be tried here; undefined = they can. */
export const noBrowserReason =
  executable === undefined
    ? 'no Chromium: install Debian’s package `chromium`, or set CHROMIUM to the path of one'
    : existsSync(CONSOLE_FOLDER)
      ? undefined
      : 'the console was not built: run `npm run build`';

if (noBrowserReason !== undefined && process.env.CI !== undefined) throw new Error(noBrowserReason);

/** How long a page may take on a busy machine: the browser shares its cores with all other tests. */
export const PATIENCE_MS = 45_000;

/** Starts a browser without windows. */
export function openBrowser(): Promise<Browser> {
  // Root has no sandbox for browsers; the pages are our own. All pages of a reader share one process: many are opened.
  const args = ['--no-sandbox', '--disable-gpu', '--force-prefers-reduced-motion', '--process-per-site'];
  return chromium.launch({ ...(executable !== undefined && { executablePath: executable }), args });
}

/** Cookies and storage of their own: another reader. */
export async function openReader(browser: Browser, origin: string): Promise<BrowserContext> {
  const context = await browser.newContext({ baseURL: origin, locale: 'en-GB', timezoneId: 'Europe/Berlin' });
  context.setDefaultTimeout(PATIENCE_MS);
  return context;
}

/** Gives a reader the session of a key, without the form. */
export async function addSession(
  context: BrowserContext,
  gateway: Pick<TestGateway, 'fetch' | 'origin'>,
  key: string,
): Promise<void> {
  const response = await gateway.fetch('/sessions', { method: 'POST', key });
  const [cookie = ''] = response.headers.getSetCookie();
  const [, name = '', value = ''] = /^([^=]+)=([^;]+)/.exec(cookie) ?? [];
  await context.addCookies([{ name, value, url: gateway.origin, httpOnly: true, sameSite: 'Strict' }]);
}
