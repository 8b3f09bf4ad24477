import type { Page, Request } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { eventually, openPage } from '../browser.ts';
import { type ConsoleUnderTest, signedInReader } from '../console-under-test.ts';
import { PageRequests } from '../findings-at.ts';

/** Views with something open, beside those of the navigation. */
const OPENED = [
  '/log?live=0&from=-36h',
  '/models?open=simulator/standard',
  '/providers#simulator',
  '/credentials#create',
  '/guardrails/default',
  '/apps?of=models',
];

/** How long a view may take to name a failure on a busy machine, milliseconds. */
const TOLD_WITHIN_MS = 20_000;

/** Asked by the shell, not by a view. */
const OF_THE_SHELL = new Set(['GET /sessions/current', 'GET /key']);

function questionOf(request: Request): string {
  return `${request.method()} ${new URL(request.url()).pathname.replace('/v1', '')}`;
}

const messageOf = (question: string): string => `No answer to ${question} today.`;

export function brokenPartsSuite(under: () => ConsoleUnderTest): void {
  describe('a part that cannot be read', () => {
    it('is named by every view that asks for it', async () => {
      const { browser, gateway } = under();
      const reader = await signedInReader(browser, gateway, gateway.managementKey);
      // Otherwise every view is asked whether the first steps are done.
      await reader.addInitScript(`localStorage.setItem('signalbox-start-skipped', '1')`);
      const { page } = await openPage(reader);
      await page.goto('/more');
      await page.locator('nav.nav li a').first().waitFor();
      const views = await page
        .locator('nav.nav li a')
        .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
      const requests = new PageRequests(page);
      const asked = new Set<string>();
      let answered: ReadonlySet<string> = new Set();
      await page.route(/\/v1\//, async (route) => {
        const question = questionOf(route.request());
        if (OF_THE_SHELL.has(question) || answered.has(question)) return route.continue();
        asked.add(question);
        return route.fulfill({ status: 500, json: { error: { code: 500, message: messageOf(question) } } });
      });
      const silent: string[] = [];
      for (const address of [...views, ...OPENED]) {
        asked.clear();
        answered = new Set();
        await page.goto(address);
        await page.locator('main#main').waitFor();
        await requests.answered();
        // What the view cannot do without; once it is there, the view asks for the rest.
        await eventually(async () => asked.size === 0 || (await toldOf(page, asked)).length > 0).toBe(true);
        const needed = await toldOf(page, asked);
        asked.clear();
        answered = new Set(needed);
        await page.goto(address);
        await page.locator('main#main').waitFor();
        await requests.answered();
        let untold: readonly string[] = [];
        const isAllTold = async (): Promise<boolean> => {
          const told = new Set(await toldOf(page, asked));
          untold = [...asked].filter((question) => !told.has(question));
          return untold.length === 0;
        };
        await expect
          .poll(isAllTold, { timeout: TOLD_WITHIN_MS })
          .toBe(true)
          .catch(() => {
            silent.push(...untold.map((question) => `${address}: ${question}`));
          });
      }
      expect(silent).toEqual([]);
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await reader.close();
    }, 240_000);
  });
}

/** The questions whose failure the page names. */
async function toldOf(page: Page, asked: ReadonlySet<string>): Promise<readonly string[]> {
  const text = (await page.locator('body').textContent()) ?? '';
  return [...asked].filter((question) => text.includes(messageOf(question)));
}
