import { beforeAll, describe, expect, it } from 'vitest';
import type { TestGateway } from '../../../kit/gateway-harness.ts';
import { type ConsolePage, eventually, openPage, seriousFindings } from '../browser.ts';
import { type ConsoleUnderTest, signedInReader } from '../console-under-test.ts';

export function conversationsSuite(under: () => ConsoleUnderTest): void {
  describe('conversations in the console', () => {
    let gateway: TestGateway;
    let key: string;
    /** Only the conversations of this suite. */
    let own: string;

    beforeAll(async () => {
      ({ gateway } = under());
      const { body } = await under().manage.ask('POST', '/keys', { name: 'of conversations' });
      key = body.key;
      own = `key=${body.data.hash}`;
      await ask('simulator/standard', { session_id: 'talk, of <b>one</b>', user: 'ada@example.org' });
      await ask('simulator/reasoning', { session_id: 'talk, of <b>one</b>' });
      await ask('simulator/standard', { session_id: 'talk, of <b>one</b>' });
      await ask('simulator/fail-429', { session_id: 'talk that fails' });
      await ask('simulator/standard', { session_id: 'talk of another' });
    });

    async function ask(model: string, more: object): Promise<void> {
      const response = await gateway.fetch('/chat/completions', {
        method: 'POST',
        key,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }], ...more }),
      });
      await response.text();
    }

    const rowsOf = ({ page }: Pick<ConsolePage, 'page'>) => page.locator('.dt tbody tr[data-index]');
    const idsOf = ({ page }: Pick<ConsolePage, 'page'>) => page.locator('.dt .conv code').allTextContents();

    it('lists them with turns, errors and cost, sorts and searches, all in the address', async () => {
      const opened = await under().opened(`/conversations?${own}`, { width: 1440 });
      const { page, close, problems } = opened;
      await eventually(() => idsOf(opened)).toEqual([
        'talk of another',
        'talk that fails',
        'talk, of <b>one</b>',
      ]);
      const cells = await rowsOf(opened).nth(2).locator('td').allTextContents();
      expect(cells.slice(1, 4)).toEqual(['standard +1', '3', '0']);
      expect(cells[0]).toContain('of conversations · Default Workspace · ada@example.org');
      expect(await rowsOf(opened).nth(1).locator('td').nth(3).textContent()).toBe('1');
      expect(await seriousFindings(page)).toEqual([]);
      await page.getByRole('button', { name: 'Turns' }).click();
      await page.waitForURL(/sort=-generations/);
      await eventually(async () => (await idsOf(opened))[0]).toBe('talk, of <b>one</b>');
      await page.getByRole('button', { name: 'Turns' }).click();
      await page.waitForURL(/sort=generations/);
      await eventually(async () => (await idsOf(opened))[2]).toBe('talk, of <b>one</b>');
      await page.getByRole('searchbox').fill('talk of');
      await page.waitForURL(/search=talk\+of/);
      await eventually(() => idsOf(opened)).toEqual(['talk of another']);
      await page.reload();
      await eventually(() => idsOf(opened)).toEqual(['talk of another']);
      await page.getByRole('searchbox').fill('talk of nobody');
      await page.getByText('No conversation matches these filters').waitFor();
      expect(problems).toEqual([]);
      await close();
    });

    it('leads to the log of one, in the order of time, where the filter can be lifted', async () => {
      const { page, close, problems } = await under().opened(`/conversations?${own}&sort=-generations`);
      await page.getByRole('button', { name: /^talk, of <b>one<\/b>/ }).click();
      await page.getByRole('heading', { name: 'Log' }).waitFor();
      const rows = page.locator('.logt tbody tr[data-id]');
      await eventually(() => rows.count()).toBe(3);
      expect(await rows.locator('td:nth-child(3)').allTextContents()).toEqual([
        expect.stringContaining('simulator/standard'),
        expect.stringContaining('simulator/reasoning'),
        expect.stringContaining('simulator/standard'),
      ]);
      await page.locator('th[aria-sort="ascending"]', { hasText: 'Time' }).waitFor();
      await page.getByRole('button', { name: 'Remove filter session' }).click();
      await eventually(() => rows.count()).toBe(5);
      await page.goBack();
      await page.goBack();
      await page.getByRole('heading', { name: 'Conversations' }).waitFor();
      expect(problems).toEqual([]);
      await close();
    });

    it('reads further ones while one scrolls', async () => {
      const opened = await under().opened('/conversations?from=-60h&search=session-');
      const { page, close, problems } = opened;
      await eventually(() => rowsOf(opened).count()).toBeGreaterThan(10);
      const height = () => page.evaluate<number>('document.documentElement.scrollHeight');
      const before = await height();
      await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
      await eventually(height).toBeGreaterThan(before + 1_000);
      const names = await idsOf(opened);
      expect(new Set(names).size).toBe(names.length);
      expect(problems).toEqual([]);
      await close();
    });

    it('shows a key its own, on a phone with the order in words', async () => {
      const reader = await signedInReader(under().browser, gateway, key);
      const opened = await openPage(reader, { width: 390, height: 844 });
      const { page, problems } = opened;
      await page.goto('/conversations');
      await eventually(() => idsOf(opened)).toHaveLength(3);
      await page.getByText('1 failed · 1 turn').waitFor();
      await page.getByLabel('Order').selectOption({ label: 'most turns first' });
      await page.waitForURL(/sort=-generations/);
      await eventually(async () => (await idsOf(opened))[0]).toBe('talk, of <b>one</b>');
      await page.getByRole('button', { name: /^talk of another/ }).click();
      await page.waitForURL(/\/log\?session_id=talk\+of\+another&sort=created_at$/);
      expect(problems).toEqual([]);
      await reader.close();
    });
  });
}
