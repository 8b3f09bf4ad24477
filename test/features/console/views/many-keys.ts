import { describe, expect, it } from 'vitest';
import { eventually } from '../browser.ts';
import type { ConsoleUnderTest } from '../console-under-test.ts';
import { MANY_KEYS } from '../large-installation.ts';

export function manyKeysSuite(under: () => ConsoleUnderTest): void {
  describe('a hundred thousand keys', () => {
    it('are paged, searched on the gateway, and one of them is changed', async () => {
      const { page, close, problems } = await under().opened('/keys');
      const rows = page.locator('main tr[data-index]');
      await rows.first().waitFor();
      // Only the rows in sight are in the page, and only some pages were read.
      expect(await rows.count()).toBeLessThan(200);
      const last = `number-${MANY_KEYS - 1}`;
      await page.getByRole('searchbox').fill(last);
      await page.locator('main tr[data-index]', { hasText: last }).waitFor();
      await eventually(() => rows.count()).toBe(1);
      await page.locator('main tr[data-index] .row-open').click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('found among many');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('searchbox').fill('found among');
      await page.locator('main tr[data-index]', { hasText: 'found among many' }).waitFor();
      expect(problems).toEqual([]);
      await close();
    });

    it('do not hold up the list of a filter', async () => {
      const { page, close, problems } = await under().opened('/log?live=0');
      await page.locator('.logt tbody tr[data-id]').first().waitFor();
      await page.keyboard.press('f');
      await page.getByRole('button', { name: 'key', exact: true }).click();
      await page.getByLabel('Find key').waitFor();
      await page.getByRole('checkbox').first().waitFor();
      expect(problems).toEqual([]);
      await close();
    });
  });
}
