import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestGateway, type TestGateway } from '../e2e/harness.ts';
import { type ConsolePage, describeInBrowser, openPage, signInAt } from './browser.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A busy machine takes long to draw. */
const eventually = <T>(read: () => Promise<T>) => expect.poll(read, { timeout: 20_000 });

/** Serious and critical findings of axe-core on the page. */
async function seriousFindings({ page }: ConsolePage): Promise<string[]> {
  return page.evaluate<string[]>(
    `(async () => { ${AXE}; const { violations } = await axe.run();
      return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')); })()`,
  );
}

describeInBrowser('the log', (browser) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await openTestGateway({ providers: [{ slug: 'simulator' }] });
    await ask('simulator/standard', '<img src=x onerror=alert(1)>');
    await ask('simulator/reasoning', 'user-2');
    await ask('simulator/fail-429', 'user-3');
  });
  afterAll(() => gateway.close());

  async function ask(model: string, user: string): Promise<void> {
    const messages = [{ role: 'user', content: '<script>alert(1)</script>' }];
    await (await gateway.post('/chat/completions', { model, messages, user })).text();
  }

  const rowsOf = ({ page }: ConsolePage) => page.locator('.logt tbody tr[data-id]');

  it('lists generations, keeps filters in the address, and has no serious finding in light and dark', async () => {
    for (const theme of ['light', 'dark'] as const) {
      const opened = await openPage(browser(), gateway, { theme });
      const { page, context, problems } = opened;
      await signInAt(opened, '/log', gateway.managementKey);
      await page.getByText('3 generations', { exact: true }).waitFor();
      await eventually(() => rowsOf(opened).count()).toBe(3);
      expect(await rowsOf(opened).first().textContent()).toContain('429 rate limited');
      expect(await seriousFindings(opened)).toEqual([]);
      await page.keyboard.press('f');
      await page.getByRole('button', { name: 'state' }).click();
      await page.getByRole('checkbox', { name: 'failed', exact: true }).check();
      await eventually(() => rowsOf(opened).count()).toBe(1);
      expect(new URL(page.url()).search).toBe('?state=failed');
      await page.getByRole('checkbox', { name: 'answered', exact: true }).check();
      await eventually(() => rowsOf(opened).count()).toBe(3);
      expect(new URL(page.url()).search).toBe('?state=failed&state=answered');
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Remove filter state' }).click();
      await eventually(() => rowsOf(opened).count()).toBe(3);
      expect(problems).toEqual([]);
      await context.close();
    }
  });

  it('opens a generation beside the list, by a link too, and fetches its content only when asked', async () => {
    const opened = await openPage(browser(), gateway);
    const { page, context, problems } = opened;
    const bodies: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/generation/content')) bodies.push(request.url());
    });
    await signInAt(opened, '/log?model=simulator/reasoning', gateway.managementKey);
    await rowsOf(opened).first().click();
    await page.getByRole('heading', { name: 'Why this endpoint' }).waitFor();
    expect(await page.getByRole('list', { name: /^Course of/ }).textContent()).toContain('Simulator');
    expect(await seriousFindings(opened)).toEqual([]);
    const link = page.url();
    expect(link).toMatch(/\/log\?model=simulator.*#gen-/);
    expect(bodies).toEqual([]);
    await page.getByRole('button', { name: 'Show prompt and answer' }).click();
    await page.getByText('Not stored').waitFor();
    expect(bodies.length).toBe(1);
    await page.locator('.drawer').press('Escape');
    await page.locator('.drawer').waitFor({ state: 'detached' });
    await page.goto(link);
    await page.getByRole('heading', { name: 'Guardrail receipt' }).waitFor();
    await page.goto(`${gateway.origin}/log#gen-1-notthere`);
    await page.reload();
    await page.getByText('There is no record of this generation').waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  it('shows new rows while it is live', async () => {
    const opened = await openPage(browser(), gateway);
    await signInAt(opened, '/log?model=simulator/standard', gateway.managementKey);
    await eventually(() => rowsOf(opened).count()).toBeGreaterThan(0);
    const before = await rowsOf(opened).count();
    await ask('simulator/standard', 'user-4');
    await eventually(() => rowsOf(opened).count()).toBe(before + 1);
    expect(opened.problems).toEqual([]);
    await opened.context.close();
  });

  it('says what to do when nothing matches', async () => {
    const opened = await openPage(browser(), gateway);
    await signInAt(opened, '/log?search=nothing-like-it', gateway.managementKey);
    await opened.page.getByText('No generation matches these filters').waitFor();
    await opened.page.getByRole('button', { name: 'Remove all filters' }).click();
    await eventually(() => rowsOf(opened).count()).toBeGreaterThan(2);
    await opened.context.close();
  });

  it('exports what it shows', async () => {
    const opened = await openPage(browser(), gateway);
    await signInAt(opened, '/log?state=failed', gateway.managementKey);
    await eventually(() => rowsOf(opened).count()).toBe(1);
    await opened.page.getByRole('button', { name: 'Export' }).click();
    const [download] = await Promise.all([
      opened.page.waitForEvent('download'),
      opened.page.getByRole('button', { name: 'CSV, for spreadsheets' }).click(),
    ]);
    const lines = readFileSync(await download.path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    expect(lines.length).toBe(2);
    expect(lines[1]).toContain(',failed,');
    await opened.context.close();
  });

  it('draws only the rows in sight of ten thousand, and goes through them with J and K', async () => {
    const opened = await openPage(browser(), gateway);
    const { page } = opened;
    const [like] = (
      (await (await gateway.fetch('/generations', { key: gateway.managementKey })).json()) as {
        data: { created_at: string }[];
      }
    ).data;
    const nowMs = Date.now();
    const data = Array.from({ length: 10_000 }, (_, index) => ({
      ...like,
      id: `gen-of-test-${index}`,
      created_at: new Date(nowMs - index * 1_000).toISOString(),
    }));
    await page.route(/\/v1\/generations\?/, (route) =>
      route.fulfill({ json: { data, next: null, previous: null } }),
    );
    await signInAt(opened, '/log?live=0', gateway.managementKey);
    await eventually(() => rowsOf(opened).count()).toBeGreaterThan(10);
    expect(await rowsOf(opened).count()).toBeLessThan(100);
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await eventually(() =>
      page.evaluate<string>('document.activeElement.closest("tr")?.dataset.id ?? ""'),
    ).toBe('gen-of-test-1');
    await page.locator('.split .list').evaluate((list) => {
      (list as unknown as { scrollTop: number; scrollHeight: number }).scrollTop = 10_000_000;
    });
    await page.locator('tr[data-id="gen-of-test-9999"]').waitFor();
    expect(await rowsOf(opened).count()).toBeLessThan(100);
    expect(opened.problems).toEqual([]);
    await opened.context.close();
  });

  it('shows a plain key itself alone, on a phone', async () => {
    const opened = await openPage(browser(), gateway, { width: 390, height: 844 });
    await signInAt(opened, '/log', gateway.apiKey);
    await eventually(() => opened.page.locator('.m-log li[data-id]').count()).toBeGreaterThan(2);
    expect(await opened.page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    expect(opened.problems).toEqual([]);
    await opened.context.close();
  });
});
