import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestGateway } from '../../../kit/gateway-harness.ts';
import { type ConsolePage, eventually } from '../browser.ts';
import type { ConsoleUnderTest } from '../console-under-test.ts';

export function analyticsSuite(under: () => ConsoleUnderTest): void {
  describe('the analytics explorer', () => {
    let gateway: TestGateway;
    let opened: ConsolePage;
    let page: Page;

    beforeAll(async () => {
      ({ gateway } = under());
      opened = await under().opened('/analytics');
      page = opened.page;
      await page.getByRole('img', { name: 'Spend per day (UTC), by model' }).waitFor();
    });

    afterAll(() => opened.close());

    const code = () => page.getByRole('tabpanel').locator('pre').textContent();
    const search = () => new URL(page.url()).searchParams;

    it('shows metrics and dimensions of the gateway, and keeps the question in the address', async () => {
      await page.getByLabel('Add a metric').selectOption('p90_latency');
      await page.getByRole('button', { name: 'Remove metric Requests' }).click();
      await page.getByRole('img', { name: 'First token p90 per day (UTC), by model' }).waitFor();
      await page.getByRole('button', { name: 'Remove dimension Model' }).click();
      await page.getByLabel('Add a dimension').selectOption('provider');
      await page.getByLabel('Time buckets').selectOption('');
      await page.getByLabel('Order').selectOption('p90_latency.desc');
      await page.getByRole('columnheader', { name: 'Provider' }).waitFor();
      expect(search().get('metrics')).toBe('total_usage,p90_latency');
      expect(search().get('granularity')).toBe('none');
      expect(JSON.parse((await code()) ?? '')).toMatchObject({
        metrics: ['total_usage', 'p90_latency'],
        dimensions: ['provider'],
        order_by: { field: 'p90_latency', direction: 'desc' },
      });
    });

    it('filters, and shows the same numbers as the interface', async () => {
      await page.getByLabel('Add a filter').selectOption('provider');
      await page.getByLabel('Operator').selectOption('in');
      await page.getByLabel('Values, separated by commas').fill('Provider 1, Provider 2');
      await page.getByRole('button', { name: 'Add filter' }).click();
      await eventually(() => page.locator('table.anat tbody tr').count()).toBe(2);
      const response = await gateway.fetch('/analytics/query', {
        method: 'POST',
        key: gateway.managementKey,
        headers: { 'content-type': 'application/json' },
        body: (await code()) ?? '',
      });
      const { data } = (await response.json()) as {
        data: { data: { provider: string; total_usage: number }[] };
      };
      const rows = await page.locator('table.anat tbody tr').allTextContents();
      const cells = page.locator('table.anat tbody td.num:nth-child(2)');
      const spent = await cells.evaluateAll((all) => all.map((cell) => cell.getAttribute('data-exact')));
      data.data.forEach(({ provider, total_usage }, index) => {
        expect(rows[index]).toContain(provider);
        expect(Number(spent[index])).toBe(total_usage);
      });
      const decimals = (await cells.allTextContents()).map((text) => text.split('.')[1]?.length);
      expect(new Set(decimals).size).toBe(1);
    });

    it('writes the question as a command', async () => {
      await page.getByRole('tab', { name: 'curl' }).click();
      expect(await code()).toContain(`curl -X POST '${gateway.origin}/api/v1/analytics/query'`);
      expect(await code()).not.toContain(gateway.managementKey);
      await page.getByRole('tab', { name: 'JSON' }).click();
    });

    it('opens the same question from a link, and downloads its rows', async () => {
      await page.reload();
      await eventually(() => page.locator('table.anat tbody tr').count()).toBe(2);
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'CSV' }).click(),
      ]);
      const text = readFileSync(await file.path(), 'utf8');
      expect(text.split('\r\n')[0]).toBe('provider,total_usage,p90_latency');
    });

    it('says why the gateway refuses a question', async () => {
      await page.goto('/analytics?metrics=p90_latency&from=-60d');
      await page.getByRole('alert').getByText('must not be longer than 31 days').waitFor();
      await page.goto('/analytics');
      await page.getByRole('img', { name: 'Spend per day (UTC), by model' }).waitFor();
    });

    it('had no problem', () => {
      expect(opened.problems).toEqual([]);
    });
  });
}
