import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openInstallation } from '../../src/installation.ts';
import { eventHistory, HISTORY_START_MS } from '../builders/event-history.ts';
import { openTestGateway, type TestGateway } from '../e2e/harness.ts';
import { type ConsolePage, describeInBrowser, openPage, signInAt } from './browser.ts';

const DAY_MS = 86_400_000;
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

describeInBrowser('the analytics explorer', (browser) => {
  let gateway: TestGateway;
  let opened: ConsolePage;
  let page: Page;

  beforeAll(async () => {
    gateway = await openTestGateway(
      { limits: { analytics_per_minute: 100_000 } },
      {
        prepare: async (dataDir) => {
          const installation = await openInstallation({ dataDir, keyPrefix: 'sk-sb-v1-' });
          const { id: accountId } = await installation.accounts.ensureFirst();
          const shiftMs = Date.now() - 5 * DAY_MS - HISTORY_START_MS;
          await installation.eventStore.append(
            [...eventHistory(1_000, 4)].map((event) => ({
              ...event,
              createdAtMs: event.createdAtMs + shiftMs,
              accountId,
            })),
          );
          await installation.close();
        },
      },
    );
    opened = await openPage(browser(), gateway);
    page = opened.page;
    await signInAt(opened, '/analytics', gateway.managementKey);
    await page.getByRole('img', { name: 'Total Usage per day, by model' }).waitFor();
  });

  afterAll(async () => {
    await opened.context.close();
    await gateway.close();
  });

  const code = () => page.getByRole('tabpanel').locator('pre').textContent();
  const search = () => new URL(page.url()).searchParams;

  it('shows metrics and dimensions of the gateway, and keeps the question in the address', async () => {
    await page.getByLabel('Add a metric').selectOption('p90_latency');
    await page.getByRole('button', { name: 'Remove metric Request Count' }).click();
    await page.getByRole('img', { name: 'P90 Latency per day, by model' }).waitFor();
    await page.getByRole('button', { name: 'Remove dimension Model' }).click();
    await page.getByLabel('Add a dimension').selectOption('provider');
    await page.getByLabel('Time buckets').selectOption('');
    await page.getByLabel('Order').selectOption('p90_latency.desc');
    await page.getByRole('columnheader', { name: 'provider' }).waitFor();
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
    await expect.poll(() => page.locator('table.anat tbody tr').count()).toBe(2);
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
    data.data.forEach(({ provider, total_usage }, index) => {
      expect(rows[index]).toContain(provider);
      expect(rows[index]).toContain(`$${total_usage.toFixed(6)}`);
    });
  });

  it('writes the question as a command', async () => {
    await page.getByRole('tab', { name: 'curl' }).click();
    expect(await code()).toContain(`curl -X POST '${gateway.origin}/v1/analytics/query'`);
    expect(await code()).not.toContain(gateway.managementKey);
    await page.getByRole('tab', { name: 'JSON' }).click();
  });

  it('opens the same question from a link, and downloads its rows', async () => {
    await page.reload();
    await expect.poll(() => page.locator('table.anat tbody tr').count()).toBe(2);
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
    await page.getByRole('img', { name: 'Total Usage per day, by model' }).waitFor();
  });

  it.each(['light', 'dark'] as const)('has no serious finding of axe: %s', async (theme) => {
    await page.emulateMedia({ colorScheme: theme });
    await page.evaluate(AXE);
    const findings = await page.evaluate<{ id: string; impact: string; html: string }[]>(
      `axe.run().then(({ violations }) => violations.flatMap(({ id, impact, nodes }) =>
        nodes.map(({ html }) => ({ id, impact, html }))))`,
    );
    expect(findings.filter(({ impact }) => impact === 'serious' || impact === 'critical')).toEqual([]);
  });

  it('has room on a phone, and had no problem', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    expect(opened.problems).toEqual([]);
  });
});
