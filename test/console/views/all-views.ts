import { cpSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestGateway, type TestGateway } from '../e2e/harness.ts';
import { type ConsolePage, describeInBrowser, openPage, signInAt } from './browser.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A name that would run if a view took it for markup. */
const MARKUP = '<img id="injected" src="/nowhere.png" onerror="window.injected=1">';
const PROMPT = `Hello <script>window.injected=1</script>${MARKUP}`;

/** All views are reached through the navigation, so that a new one is tried without a change here. */
async function viewsOf(page: Page): Promise<readonly string[]> {
  return page
    .locator('nav.nav li a')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
}

/** Opens a view, and waits until everything it asked for has come. */
async function openView({ page }: ConsolePage, path: string): Promise<void> {
  let open = 0;
  const sent = (): void => {
    open++;
  };
  const ended = (): void => {
    open--;
  };
  page.on('request', sent).on('requestfinished', ended).on('requestfailed', ended);
  await page.goto(path);
  await page.locator('main#main').waitFor();
  await expect
    .poll(async () => Math.max(0, open) + (await page.locator('.sk-rows').count()), { timeout: 30_000 })
    .toBe(0);
  page.off('request', sent).off('requestfinished', ended).off('requestfailed', ended);
}

/** Findings of axe-core that keep somebody from using the page. */
async function findingsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE);
  return page.evaluate<string[]>(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200))))`);
}

describeInBrowser('every view of the console', (browser) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await openTestGateway();
    await fill(gateway);
  });
  afterAll(() => gateway.close());

  /** Visits each view and collects what is wrong with it, by its path. */
  const visit = async (
    options: Parameters<typeof openPage>[2],
    check: (page: Page) => Promise<readonly string[]>,
  ): Promise<Record<string, readonly string[]>> => {
    const opened = await openPage(browser(), gateway, options);
    await signInAt(opened, '/more', gateway.managementKey);
    const found: Record<string, readonly string[]> = {};
    let known = 0;
    for (const path of [...(await viewsOf(opened.page)), '/more']) {
      await openView(opened, path);
      const wrong = [...(await check(opened.page)), ...opened.problems.slice(known)];
      known = opened.problems.length;
      if (wrong.length > 0) found[path] = wrong;
    }
    await opened.context.close();
    return found;
  };

  it.each(['light', 'dark'] as const)(
    'can be used by everyone, and loads nothing from elsewhere: %s',
    async (theme) => {
      expect(await visit({ theme }, findingsOf)).toEqual({});
    },
    120_000,
  );

  it('fits a phone, and shows names and prompts as text', async () => {
    const found = await visit({ width: 390, height: 844 }, async (page) => {
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      const isInjected = await page.evaluate<boolean>(
        `'injected' in window || document.getElementById('injected') !== null`,
      );
      return [
        ...(width > 390 ? [`is ${width} wide`] : []),
        ...(isInjected ? ['ran markup of a name or a prompt'] : []),
        ...(await findingsOf(page)),
      ];
    });
    expect(found).toEqual({});
  }, 120_000);

  it('asks for less than one thing a second while nothing happens', async () => {
    const opened = await openPage(browser(), gateway);
    const { page } = opened;
    await page.clock.install();
    await signInAt(opened, '/more', gateway.managementKey);
    const rates: Record<string, number> = {};
    for (const path of await viewsOf(page)) {
      await openView(opened, path);
      let requests = 0;
      let open = 0;
      const sent = (): void => {
        requests++;
        open++;
      };
      const ended = (): void => {
        open--;
      };
      page.on('request', sent).on('requestfinished', ended).on('requestfailed', ended);
      for (let second = 0; second < 30; second++) {
        await page.clock.runFor(1_000);
        // Answers set the timers of the next questions.
        await expect.poll(() => open).toBeLessThanOrEqual(0);
      }
      page.off('request', sent).off('requestfinished', ended).off('requestfailed', ended);
      if (requests >= 30) rates[path] = requests / 30;
    }
    expect(rates).toEqual({});
    await opened.context.close();
  }, 240_000);

  it('is worked by the keyboard', async () => {
    const opened = await openPage(browser(), gateway);
    await signInAt(opened, '/sessions', gateway.managementKey);
    const { page, problems } = opened;
    await page.getByText('this browser').waitFor();
    await page.getByText('Serving', { exact: true }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('p');
    await page.getByRole('heading', { name: 'Playground' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    expect(await findingsOf(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await page.getByLabel('A view, or the id of a generation').fill('sess');
    expect(await findingsOf(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByText('this browser').waitFor();
    await page.reload();
    await page.getByText('this browser').waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('To the content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.closest("main") !== null')).toBe(true);
    expect(problems).toEqual([]);
    await opened.context.close();
  });
});

describeInBrowser('a gateway that restarts', (browser) => {
  it('is survived by the session and by what was typed', async () => {
    const first = await openTestGateway();
    const opened = await openPage(browser(), first);
    await signInAt(opened, '/playground', first.managementKey);
    const { page } = opened;
    await page.getByRole('button', { name: 'Key that pays' }).waitFor();
    await page.getByLabel('System').fill('Be brief.');
    await page.getByLabel('Message').fill('Are you there?');
    await first.drain(0);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('The gateway does not answer.').waitFor();
    const second = await openTestGateway(
      {},
      {
        port: Number(new URL(first.origin).port),
        prepare: async (dataDir) => cpSync(first.dataDir, dataDir, { recursive: true }),
      },
    );
    await page.getByRole('button', { name: 'Try again' }).first().click();
    await page.getByText('simulated answer').waitFor();
    expect(await page.getByLabel('System').inputValue()).toBe('Be brief.');
    await opened.context.close();
    await second.close();
    rmSync(first.dataDir, { recursive: true, force: true });
  });
});

/** Names and prompts that would do harm as markup, an answer, a failure and a tool call. */
async function fill(gateway: TestGateway): Promise<void> {
  const manage = async <T>(path: string, method: string, body: unknown): Promise<T> => {
    const response = await gateway.fetch(path, {
      method,
      key: gateway.managementKey,
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
    expect(response.status, await response.clone().text()).toBeLessThan(300);
    return (await response.json()) as T;
  };
  const { data: workspace } = await manage<{ data: { id: string } }>('/workspaces', 'POST', {
    name: MARKUP,
    slug: 'with-markup',
    is_observability_io_logging_enabled: true,
  });
  const { key } = await manage<{ key: string }>('/keys', 'POST', {
    name: MARKUP,
    workspace_id: workspace.id,
    limit: 5,
  });
  await manage('/guardrails', 'POST', { name: MARKUP });
  for (const model of ['simulator/standard', 'simulator/reasoning', 'simulator/fail-500']) {
    const answered = await gateway.fetch('/responses', {
      method: 'POST',
      key,
      body: JSON.stringify({ model, input: PROMPT, user: MARKUP }),
      headers: {
        'content-type': 'application/json',
        'http-referer': 'https://app.example/',
        'x-title': MARKUP,
      },
    });
    await answered.text();
  }
}
