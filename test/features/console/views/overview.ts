import type { Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Overview } from '../../../../src/contract/analytics/overview.ts';
import type { TestGateway } from '../../../kit/gateway-harness.ts';
import { type ConsolePage, eventually, openPage } from '../browser.ts';
import { type ConsoleUnderTest, signedInReader } from '../console-under-test.ts';

export function overviewSuite(under: () => ConsoleUnderTest): void {
  describe('the overview', () => {
    let gateway: TestGateway;
    let opened: ConsolePage;
    let page: Page;
    let key: string;
    let hash: string;

    beforeAll(async () => {
      ({ gateway } = under());
      const made = await under().manage.ask('POST', '/keys', {
        name: 'of the overview',
        limit: 5,
        limit_reset: 'monthly',
      });
      key = made.body.key;
      hash = made.body.data.hash;
      await complete('simulator/standard');
      await complete('simulator/fail-500');
      opened = await under().opened('/');
      page = opened.page;
      await page.getByRole('button', { name: /^Requests/ }).waitFor();
    });

    afterAll(() => opened.close());

    async function complete(model: string): Promise<void> {
      await gateway.fetch('/chat/completions', {
        method: 'POST',
        key,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Say hello' }] }),
      });
    }

    /** The answer to the page after an action. The range moves with time, so no other answer is equal. */
    async function answeredAfter(action: () => Promise<unknown>): Promise<Overview> {
      const [response] = await Promise.all([
        page.waitForResponse((each) => each.url().includes('/v1/overview?')),
        action(),
      ]);
      return ((await response.json()) as { data: Overview }).data;
    }

    const tile = (name: string) => page.getByRole('button', { name: new RegExp(`^${name}`) });
    const grouped = (value: number) => value.toLocaleString('en-GB');

    it('asks for its figures once, when it knows whose session it is', async () => {
      const asked: string[] = [];
      const note = (request: Request) => {
        const { pathname } = new URL(request.url());
        if (/^\/v1\/(?:sessions|overview)/.test(pathname)) asked.push(pathname);
      };
      page.on('request', note);
      await page.goto('/');
      await tile('Requests').waitFor();
      expect(asked).toEqual(['/v1/sessions/current', '/v1/overview']);
      page.off('request', note);
    });

    it('shows the figures of the last 24 hours, which agree with the ledger', async () => {
      const { now, ledger } = await answeredAfter(() => page.reload());
      await eventually(() => tile('Requests').textContent()).toContain(grouped(now.request_count));
      expect(await tile('Spend').getAttribute('title')).toBe(`$${now.total_usage.toFixed(9)}`);
      const mark = page.locator('footer.foot .seal > span').last();
      expect(await mark.textContent()).toMatch(/^Matches the ledger: \$[\d.]+ until \d\d:\d\d:\d\d\./);
      expect(await mark.getAttribute('title')).toBe(`Booked: $${ledger.booked.toFixed(9)}`);
    });

    it('chooses the metric of the chart by its tiles, and keeps it in the address', async () => {
      await tile('Requests').click();
      await page.getByRole('heading', { name: 'Requests per hour, by model' }).waitFor();
      expect(new URL(page.url()).search).toBe('?metric=requests');
      await tile('Total').click();
      await page.getByRole('img', { name: 'Total per hour' }).waitFor();
      await tile('Spend').click();
      expect(new URL(page.url()).search).toBe('');
    });

    it('breaks down by another dimension and filters by a row', async () => {
      await page.getByRole('button', { name: 'Provider', exact: true }).click();
      const row = page.getByRole('button', { name: 'Provider 1', exact: true });
      await row.waitFor();
      const { now, groups } = await answeredAfter(() => row.click());
      expect(groups.map(({ id }) => id)).toEqual(['Provider 1']);
      await eventually(() => tile('Requests').textContent()).toContain(grouped(now.request_count));
      expect(new URL(page.url()).searchParams.get('provider')).toBe('Provider 1');
      await page.getByRole('button', { name: 'Remove filter provider' }).click();
      await page.getByRole('button', { name: 'Model', exact: true }).click();
    });

    it('opens the log with the same filters', async () => {
      const row = page.locator('table.brk tbody button').first();
      await row.click({ modifiers: ['Shift'] });
      const { pathname, searchParams } = new URL(page.url());
      expect(pathname).toBe('/log');
      expect(searchParams.get('model')).toMatch(/^acme\/model-/);
      await page.goBack();
      await tile('Requests').waitFor();
      const failures = page.getByRole('link', { name: /^\d+ in the log$/ });
      expect(await failures.getAttribute('href')).toBe('/log?state=failed');
    });

    it('zooms into the hours that were dragged over', async () => {
      const plot = page.locator('.ov-main .plot');
      const box = await plot.boundingBox();
      if (box === null) throw new Error('there is no chart');
      const at = (share: number) => box.x + box.width * share;
      await page.mouse.move(at(0.4), box.y + 20);
      await page.locator('.ov-main .tip').waitFor();
      await page.mouse.down();
      await page.mouse.move(at(0.6), box.y + 20, { steps: 4 });
      await page.mouse.up();
      await eventually(() => new URL(page.url()).searchParams.has('from')).toBe(true);
      const query = new URL(page.url()).searchParams;
      const lengthMs = Date.parse(query.get('to') ?? '') - Date.parse(query.get('from') ?? '');
      expect(lengthMs).toBeGreaterThan(2 * 3_600_000);
      expect(lengthMs).toBeLessThan(9 * 3_600_000);
      await page.goBack();
    });

    it('shows charts as tables', async () => {
      await page.getByRole('button', { name: 'Show Spend as table' }).click();
      const table = page.getByRole('table', { name: 'Spend per hour, by model' });
      expect(await table.getByRole('row').count()).toBeGreaterThan(24);
      await page.getByRole('button', { name: 'Show Spend as chart' }).click();
    });

    it('says what needs attention, and by how much figures and ledger differ', async () => {
      const second = await page.context().newPage();
      await second.route('**/v1/overview?*', async (route) => {
        const response = await route.fetch();
        const body = (await response.json()) as { data: Overview };
        const ledger = { ...body.data.ledger, state: 'differs', difference: 0.25 };
        await route.fulfill({ response, json: { data: { ...body.data, ledger } } });
      });
      await second.route('**/v1/gateway/providers', async (route) => {
        const response = await route.fetch();
        const { data } = (await response.json()) as { data: object[] };
        await route.fulfill({
          response,
          json: { data: [{ ...data[0], name: 'Acme', endpoints: 3, endpoints_out: 2 }] },
        });
      });
      await second.goto('/');
      await second.getByText('a difference of $0.250000000').waitFor();
      await second.getByText('Figures and ledger differ').waitFor();
      await second.getByText('Acme is cooling down').waitFor();
      await second.getByText('2 of 3 endpoints').waitFor();
      await second.close();
    });

    it('shows another key itself alone, with its limit', async () => {
      const reader = await signedInReader(under().browser, gateway, key);
      const other = await openPage(reader);
      await other.page.goto('/');
      const requests = other.page.getByRole('button', { name: /^Requests/ });
      await eventually(() => requests.textContent()).toMatch(/^Requests 2[–+0]/);
      expect(await other.page.getByRole('button', { name: 'Workspace', exact: true }).count()).toBe(0);
      const { data } = (await (await gateway.fetch('/key', { key })).json()) as {
        data: { limit_remaining: number };
      };
      expect(data.limit_remaining).toBeLessThan(5);
      const limit = await other.page.getByText('Limit of this key').textContent();
      // To the cent, so that what two short answers cost does not show.
      expect(limit).toMatch(/^Limit of this key: \$5\.00 a month, \$(?:5\.00|4\.99) left, resets 1 \w{3}, /);
      expect(await under().manage.ask('PATCH', `/keys/${hash}`, { limit: null })).toMatchObject({
        status: 200,
      });
      await other.page.reload();
      await other.page.getByText('This key has no limit of its own.').waitFor();
      expect(other.problems).toEqual([]);
      await reader.close();
    });

    it('is light or dark as the reader says at the foot of the navigation', async () => {
      const theme = (name: string) =>
        page.getByRole('group', { name: 'Theme' }).getByRole('button', { name });
      const shown = () => page.locator('html').getAttribute('data-theme');
      await theme('Dark').click();
      expect(await shown()).toBe('dark');
      await page.reload();
      await eventually(() => theme('Dark').getAttribute('aria-pressed')).toBe('true');
      await page.keyboard.press('Shift+T');
      expect([await shown(), await theme('Light').getAttribute('aria-pressed')]).toEqual(['light', 'true']);
      await theme('System').click();
      expect(await shown()).toBeNull();
    });

    it('had no problem on the page', () => {
      expect(opened.problems).toEqual([]);
    });
  });
}
