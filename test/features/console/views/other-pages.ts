import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { seriousFindings, setWindow } from '../browser.ts';
import type { ConsoleUnderTest } from '../console-under-test.ts';

const PHONE = { width: 390, height: 844 };

const NONE: string[] = [];

/** Parts that scroll and that the keyboard cannot reach. axe-core looks for them too, in a minute. */
const UNREACHABLE = `[...document.querySelectorAll('pre, .wide')]
  .filter((part) => part.scrollHeight > part.clientHeight + 1 || part.scrollWidth > part.clientWidth + 1)
  .filter((part) => part.tabIndex < 0 && part.querySelector('a, button, summary') === null)
  .map((part) => 'cannot be reached: ' + part.textContent.slice(0, 80))`;

const unreachable = (page: Page): Promise<string[]> => page.evaluate<string[]>(UNREACHABLE);

/** Pages of the gateway that are no views of the console. */
export function otherPagesSuite(under: () => ConsoleUnderTest): void {
  describe('pages beside the views', () => {
    it('describe the interface for everyone, light, dark and on a phone', async () => {
      const { page, close, problems } = await under().opened('/docs');
      await page.locator('main h1').waitFor();
      const found = { desk: await unreachable(page), phone: NONE, light: NONE, dark: NONE };
      await setWindow(page, PHONE);
      found.phone = await unreachable(page);
      // One operation is like the other, and all rules would look at each of their thousands of parts.
      await page.evaluate(`for (const kind of ['.operation', '.schema', 'nav li'])
        [...document.querySelectorAll(kind)].slice(5).forEach((part) => part.remove());
        for (const { rows } of document.querySelectorAll('table')) [...rows].slice(5).forEach((row) => row.remove())`);
      found.phone.push(...(await seriousFindings(page, 'structure')));
      await setWindow(page);
      found.light = await seriousFindings(page);
      await setWindow(page, { theme: 'dark' });
      found.dark = await seriousFindings(page, 'colours');
      expect(found).toEqual({ desk: [], phone: [], light: [], dark: [] });
      expect(problems).toEqual([]);
      await close();
    }, 180_000);

    it('tell a browser that there is nothing at an address, and a program what to ask for', async () => {
      const { gateway } = under();
      const { page, close } = await under().opened('/sessions');
      const response = await page.goto('/nonsense/deep');
      expect(response?.status()).toBe(404);
      await page.getByRole('heading', { name: 'No such view' }).waitFor();
      await close();
      const asked = async (path: string, accept: string) => {
        const { status, headers } = await fetch(`${gateway.origin}${path}`, { headers: { accept } });
        return `${status} ${headers.get('content-type')?.split(';')[0]}`;
      };
      expect(await asked('/nonsense', '*/*')).toBe('404 application/json');
      expect(await asked('/v1/nonsense', 'text/html')).toBe('404 application/json');
      expect(await asked('/nonsense', 'text/html,*/*')).toBe('404 text/html');
    });
  });
}
