import { beforeAll, describe, expect, it } from 'vitest';
import { eventually, openPage } from '../browser.ts';
import { type ConsoleUnderTest, signedInReader } from '../console-under-test.ts';
import { DEAREST_KEY, LONGEST_MS } from '../large-installation.ts';

const DAY_MS = 86_400_000;

/** A newcomer's two questions, answered with nothing but the console. */
export function walkSuite(under: () => ConsoleUnderTest): void {
  describe('which key spent most yesterday, and why was that one request slow?', () => {
    let slowId: string;
    let askedAtMs: number;

    beforeAll(async () => {
      askedAtMs = Date.now();
      const answer = await under().gateway.fetch('/chat/completions', {
        method: 'POST',
        key: DEAREST_KEY.secret,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          models: ['simulator/fail-500', 'simulator/slow'],
          messages: [{ role: 'user', content: 'Take your time.' }],
          stream: true,
        }),
      });
      await answer.text();
      slowId = answer.headers.get('x-generation-id') ?? '';
      expect(Date.now() - askedAtMs).toBeGreaterThan(LONGEST_MS);
    });

    it('is answered in six clicks', async () => {
      const { browser, gateway } = under();
      const reader = await signedInReader(browser, gateway, gateway.managementKey);
      const { page, problems } = await openPage(reader);
      // The reader comes a day later, so that what was asked just now was asked yesterday.
      await page.clock.install({ time: askedAtMs + DAY_MS });
      await page.goto('/');
      await page.getByRole('button', { name: /^Last 24 hours/ }).click();
      await page.getByRole('button', { name: 'Yesterday' }).click();
      await page.getByRole('group', { name: 'Break down by' }).getByRole('button', { name: 'Key' }).click();
      const first = page.locator('.brk tbody tr').first();
      await first.getByText(DEAREST_KEY.name).waitFor();
      await first.getByRole('link', { name: `Log of ${DEAREST_KEY.name}` }).click();
      await page.getByRole('button', { name: 'Total' }).click();
      const row = page.locator('.logt tbody tr[data-id]').first();
      await page.waitForURL(/sort=-duration_ms/);
      await page.locator(`.logt tbody tr[data-id="${slowId}"]`).waitFor();
      expect(await row.getAttribute('data-id')).toBe(slowId);
      await row.click();
      const words = page.locator('.drawer .went');
      await words.waitFor();
      const text = (await words.textContent()) ?? '';
      expect(text).toMatch(/^Where the time went\d+\.\d\d s of \d+\.\d\d s \(\d+ %\) were spent /);
      expect(text).toContain('waiting for the first token of Simulator');
      expect(await page.locator('.drawer .wf ol').textContent()).toContain('500');
      expect(new URL(page.url()).search).toContain('from=yesterday&to=today&key=');
      expect(problems).toEqual([]);
      await reader.close();
    });

    it('is found in the order of the log, in both directions, and without a live list', async () => {
      const { page, close, problems } = await under().opened(`/log?sort=-cost&live=0`);
      await page.locator('.logt tbody tr[data-id]').first().waitFor();
      expect(await page.getByRole('button', { name: 'Live' }).isDisabled()).toBe(true);
      const costs = async (): Promise<number[]> =>
        (await page.locator('.logt td.cst .money').allTextContents()).map((text) =>
          Number(text.replace('$', '')),
        );
      const dearest = await costs();
      expect(dearest).toEqual(dearest.toSorted((one, other) => other - one));
      expect(dearest[0]).toBeGreaterThan(0.02);
      await page.getByRole('button', { name: 'Cost' }).click();
      await page.waitForURL(/sort=cost/);
      await eventually(async () => (await costs())[0]).toBeLessThan(0.001);
      await page.getByRole('button', { name: 'Time' }).click();
      await page.waitForURL((url) => !url.search.includes('sort'));
      await page.locator('.logt tr.day').first().waitFor();
      expect(problems).toEqual([]);
      await close();
    });
  });
}
