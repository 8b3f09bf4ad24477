import { describe, expect, it } from 'vitest';
import type { ConsoleUnderTest } from '../console-under-test.ts';

/** Views that read from the analytics store: what they ask, and what they show when it answers. */
const VIEWS = [
  ['/?from=-36h', /\/v1\/overview\?/, '.ov-main .plot path'],
  ['/log?from=-36h&live=0', /\/v1\/generations\?.*limit=200/, '.list [data-id]'],
  ['/analytics', /\/v1\/analytics\/query/, '.an .plot path'],
  ['/apps', /\/v1\/datasets\/app-rankings/, 'main :is(tr[data-index], .empty)'],
  ['/apps?of=models', /\/v1\/datasets\/rankings-daily/, 'main tr[data-index]'],
] as const;

const MESSAGE = 'The analytics store did not answer in 30 s.';

/** Long enough that a view draws something before its answer comes. */
const SLOW_MS = 400;

export function brokenAnalyticsSuite(under: () => ConsoleUnderTest): void {
  describe('an analytics store that is slow, or broken', () => {
    it.each(VIEWS)('is said at %s, which recovers', async (address, question, part) => {
      const { page, close, problems } = await under().opened('/sessions');
      await page.route(question, (route) =>
        route.fulfill({ status: 503, json: { error: { code: 503, message: MESSAGE } } }),
      );
      await page.goto(address);
      const note = page.locator('main .note', { hasText: MESSAGE });
      await note.waitFor();
      expect(await page.locator(part).count()).toBe(0);
      await page.unroute(question);
      await page.route(question, async (route) => {
        await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
        await route.continue();
      });
      await note.getByRole('button', { name: 'Try again' }).click();
      await page.locator(part).first().waitFor();
      await note.waitFor({ state: 'detached' });
      expect(problems).toEqual([]);
      await close();
    });
  });
}
