import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import { PATIENCE_MS } from './chromium.ts';

/** Waits for a value of a page. */
export const eventually = <T>(read: () => T | Promise<T>) => expect.poll(read, { timeout: PATIENCE_MS });

/** A page of the console, and everything that went wrong on it. */
export interface ConsolePage {
  readonly page: Page;
  /** Errors, refused scripts and styles, and requests to other hosts. Empty on a page that is well. */
  readonly problems: string[];
  /** What the browser's own console says of refused requests, which views show in their own words. */
  readonly refusals: string[];
  close(): Promise<void>;
}

/** The window of a page: a large one and light without more. */
export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: 'light' | 'dark';
}

/** Opens a page of a reader. */
export async function openPage(context: BrowserContext, options: PageOptions = {}): Promise<ConsolePage> {
  const page = await context.newPage();
  await setWindow(page, options);
  const problems: string[] = [];
  const refusals: string[] = [];
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('console', (message) => {
    const isRefusal = /Failed to load resource/.test(message.text());
    if (message.type() === 'error') (isRefusal ? refusals : problems).push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    const own = new URL(page.url() === 'about:blank' ? request.url() : page.url()).origin;
    if (protocol.startsWith('http') && origin !== own) problems.push(`outside: ${request.url()}`);
  });
  return { page, problems, refusals, close: () => page.close() };
}

/** Gives a page its size and its theme. */
export async function setWindow(
  page: Page,
  { width = 1440, height = 900, theme = 'light' }: PageOptions = {},
): Promise<void> {
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: theme });
}

/** Signs in on the page, and waits for the view of the address. */
export async function signInAt({ page }: ConsolePage, address: string, key: string): Promise<void> {
  await page.goto(address);
  await page.getByLabel('Key', { exact: true }).fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('nav.nav .nav-foot').waitFor({ state: 'attached' });
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Which rules axe-core checks: all, those that depend on colours, or all others. */
export type AxeRules = 'all' | 'colours' | 'structure';

const RULE_OPTIONS: Readonly<Record<AxeRules, object>> = {
  all: {},
  colours: { runOnly: ['color-contrast', 'link-in-text-block'] },
  structure: { rules: { 'color-contrast': { enabled: false } } },
};

/** What axe-core finds serious or critical on the page as it is now: the rule, and the element. */
export async function seriousFindings(page: Page, rules: AxeRules = 'all'): Promise<string[]> {
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(AXE);
  // Only rules about turned screens need the styles read again, and there are no frames.
  const options = JSON.stringify({
    resultTypes: ['violations'],
    preload: false,
    iframes: false,
    ...RULE_OPTIONS[rules],
  });
  return page.evaluate<string[]>(`axe.run(${options}).then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200))))`);
}
