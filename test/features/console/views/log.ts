import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { TestGateway } from '../../../kit/gateway-harness.ts';
import { type ConsolePage, eventually, openPage } from '../browser.ts';
import { type ConsoleUnderTest, signedInReader } from '../console-under-test.ts';

export function logSuite(under: () => ConsoleUnderTest): void {
  describe('the log', () => {
    let gateway: TestGateway;
    let key: string;
    /** Only the generations of this suite, newest first. */
    let ownRows: string;

    beforeAll(async () => {
      ({ gateway } = under());
      const { body } = await under().manage.ask('POST', '/keys', { name: 'of the log' });
      key = body.key;
      ownRows = `key=${body.data.hash}`;
      await ask('simulator/standard', '<img src=x onerror=alert(1)>');
      await ask('simulator/reasoning', 'user-2');
      await ask('simulator/fail-429', 'user-3');
    });

    function send(model: string, more: object = {}, signal?: AbortSignal, as = key): Promise<Response> {
      const messages = [{ role: 'user', content: '<script>alert(1)</script>' }];
      return gateway.fetch('/chat/completions', {
        method: 'POST',
        key: as,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages, ...more }),
        ...(signal !== undefined && { signal }),
      });
    }

    async function ask(model: string, user: string): Promise<void> {
      await (await send(model, { user })).text();
    }

    const focusedText = (page: Page): Promise<string> =>
      page.evaluate<string>('document.activeElement?.textContent ?? ""');

    const rowsOf = ({ page }: ConsolePage) => page.locator('.logt tbody tr[data-id]');

    it('is not shown as live while the gateway does not answer', async () => {
      const { page, close } = await under().opened(`/log?${ownRows}`);
      const live = page.getByRole('button', { name: 'Live' });
      await live.locator('.live-dot').waitFor();
      await page.route(/generations/, (route) => route.abort());
      await live.locator('.dot.warn').waitFor();
      await page.getByText('The gateway has not answered since').waitFor();
      await page.unrouteAll();
      await live.locator('.live-dot').waitFor();
      await close();
    });

    it.each([
      ['search=session-1000', 'Nothing found yet, searched back to', 1],
      ['sort=-duration_ms&search=session-100', 'and may put others first', 4],
    ])('says how far a search has come, and goes on by itself: %s', async (query, note, rows) => {
      const opened = await under().opened('/sessions');
      const { page, close, problems } = opened;
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      let hurried = 0;
      await page.route(/\/v1\/generations(\/counts)?\?/, async (route) => {
        const url = route.request().url();
        const isCounting = url.includes('/counts');
        // By time, the search goes on where the first answer ended. In another order, the final page is asked for
        // at the same time, before or after it.
        const isFirst = !isCounting && url.includes('within_ms=') && hurried++ === 0;
        if (!isCounting && !isFirst) await released;
        // Less than any part of the range takes: the answer is incomplete.
        await route.continue({
          url: isCounting || isFirst ? url.replace(/within_ms=\d+/, 'within_ms=1') : url,
        });
      });
      await page.goto(`/log?from=-60h&live=0&${query}`);
      await page.getByText(note).waitFor();
      expect(await page.getByText('No generation matches').count()).toBe(0);
      release();
      await eventually(() => rowsOf(opened).count()).toBe(rows);
      await page.getByText('The search goes on').waitFor({ state: 'detached' });
      await page
        .locator('.top')
        .getByText(rows === 1 ? /^1 generation$/ : /^4 generations$/)
        .waitFor();
      expect(problems).toEqual([]);
      await close();
    });

    it('gives arrows and Enter to an open list of filters, not to the rows behind it', async () => {
      const opened = await under().opened(`/log?${ownRows}`);
      const { page, close } = opened;
      await eventually(() => rowsOf(opened).count()).toBe(3);
      await page.keyboard.press('f');
      await page.getByRole('dialog', { name: 'Add a filter' }).waitFor();
      // Past workspace and key, whose turn comes first.
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowUp');
      for (let step = 0; !(await focusedText(page)).startsWith('state'); step++) {
        expect(step).toBeLessThan(5);
        await page.keyboard.press('ArrowDown');
      }
      await page.keyboard.press('Enter');
      await page.getByLabel('Find state').waitFor();
      await page.getByRole('checkbox', { name: 'answered', exact: true }).waitFor();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.waitForURL(/&state=/);
      expect(new URL(page.url()).hash).toBe('');
      await close();
    });

    it('lists generations, and keeps filters in the address', async () => {
      const opened = await under().opened(`/log?${ownRows}`);
      const { page, close, problems } = opened;
      await page.getByText('3 generations', { exact: true }).waitFor();
      await eventually(() => rowsOf(opened).count()).toBe(3);
      expect(await rowsOf(opened).first().textContent()).toContain('429 rate limited');
      await page.keyboard.press('f');
      await page.getByRole('button', { name: 'state' }).click();
      await page.getByRole('checkbox', { name: 'failed', exact: true }).check();
      await eventually(() => rowsOf(opened).count()).toBe(1);
      expect(new URL(page.url()).search).toBe(`?${ownRows}&state=failed`);
      await page.getByRole('checkbox', { name: 'answered', exact: true }).check();
      await eventually(() => rowsOf(opened).count()).toBe(3);
      expect(new URL(page.url()).search).toBe(`?${ownRows}&state=failed&state=answered`);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Remove filter state' }).click();
      await eventually(() => rowsOf(opened).count()).toBe(3);
      expect(problems).toEqual([]);
      await close();
    });

    it('shows what is running, what it may cost, and turns it into its record at its end', async () => {
      const caller = new AbortController();
      const opened = await under().opened(`/log?${ownRows}&model=simulator/slow-stream`);
      const { page, close, problems } = opened;
      const answer = await send('simulator/slow-stream', { stream: true }, caller.signal);
      const id = answer.headers.get('x-generation-id') ?? '';
      await page.getByText('1 running').waitFor();
      const row = page.locator(`tr[data-id="${id}"]`);
      await row.waitFor();
      expect(await row.textContent()).toMatch(/running.*≤ \$0\.0/);
      await row.click();
      const drawer = page.getByRole('complementary', { name: `Generation ${id}` });
      await drawer.getByText('Running for').waitFor();
      caller.abort();
      await drawer.getByRole('heading', { name: 'Why this endpoint' }).waitFor();
      await drawer.press('Escape');
      await eventually(() => row.textContent()).toContain('cancelled');
      expect(problems).toEqual([]);
      await close();
    });

    it('shows the columns that the reader chooses, here and later', async () => {
      const { page, close, problems } = await under().opened(`/log?${ownRows}`);
      const heads = () => page.locator('.logt th').allTextContents();
      await eventually(heads).toContain('Format');
      await page.getByRole('button', { name: 'Columns' }).click();
      const menu = page.getByRole('dialog', { name: 'Columns' });
      await menu.getByLabel('Format').uncheck();
      await menu.getByLabel('End user').check();
      await page.reload();
      await eventually(heads).toContain('End user');
      expect(await heads()).not.toContain('Format');
      await page.locator('td', { hasText: '<img src=x onerror=alert(1)>' }).first().waitFor();
      await page.getByRole('button', { name: 'Columns' }).click();
      await menu.getByRole('button', { name: 'Usual columns' }).click();
      expect(await heads()).toContain('Format');
      expect(problems).toEqual([]);
      await close();
    });

    it('goes to the previous and the next generation in the detail', async () => {
      const opened = await under().opened(`/log?${ownRows}&live=0`);
      const { page, close, problems } = opened;
      await eventually(() => rowsOf(opened).count()).toBeGreaterThan(2);
      const ids = await rowsOf(opened).evaluateAll((rows) => rows.map((row) => row.getAttribute('data-id')));
      await rowsOf(opened).first().click();
      const previous = page.getByRole('button', { name: 'Previous generation' });
      const next = page.getByRole('button', { name: 'Next generation' });
      await next.waitFor();
      expect(await previous.isDisabled()).toBe(true);
      await next.click();
      await page.getByRole('complementary', { name: `Generation ${ids[1]}` }).waitFor();
      await previous.click();
      await page.getByRole('complementary', { name: `Generation ${ids[0]}` }).waitFor();
      expect(problems).toEqual([]);
      await close();
    });

    it('opens a generation beside the list, by a link too, and fetches its content only when asked', async () => {
      const opened = await under().opened('/log');
      const { page, close, problems } = opened;
      const bodies: string[] = [];
      page.on('request', (request) => {
        if (request.url().includes('/generation/content')) bodies.push(request.url());
      });
      await page.goto(`/log?${ownRows}&model=simulator/reasoning`);
      await rowsOf(opened).first().click();
      await page.getByRole('heading', { name: 'Why this endpoint' }).waitFor();
      expect(await page.getByRole('list', { name: /^Course of/ }).textContent()).toContain('Simulator');
      const link = page.url();
      expect(link).toMatch(/\/log\?key=.*&model=simulator.*#gen-/);
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
      await close();
    });

    it.each(['in the list', 'by a link alone'])(
      'names key, workspace, session and end user of a generation, each a filter: %s',
      async (how) => {
        const session = { session_id: 'conversation-7', user: 'ada@example.org' };
        const answer = await send('simulator/standard', session);
        await answer.text();
        const id = answer.headers.get('x-generation-id') ?? '';
        const opened = await under().opened(`/log?${ownRows}&live=0`, { width: 1760 });
        const { page, close, problems } = opened;
        // A filter that does not match leaves the generation without a row in the list.
        await page.goto(`/log?${how === 'in the list' ? ownRows : 'state=cancelled'}&live=0#${id}`);
        const line = page.locator('.drawer .callr');
        await line.getByRole('link', { name: 'of the log', exact: true }).waitFor();
        const links = await line
          .getByRole('link')
          .evaluateAll((all) => all.map((link) => [link.textContent, link.getAttribute('title')]));
        expect(links.map(([text]) => text)).toEqual([
          'of the log',
          'Default Workspace',
          session.session_id,
          session.user,
        ]);
        expect(links[0]?.[1]).toBe(ownRows.slice('key='.length));
        if (how === 'in the list') {
          // The list beside it still says whose each row is.
          await page.locator('.logt th', { hasText: 'Key' }).waitFor();
        }
        await line.getByRole('link', { name: session.session_id }).click();
        await page.waitForURL(/session_id=conversation-7/);
        await page.locator('.drawer').press('Escape');
        await page.goto('/log?live=0&session_id=conversation-7');
        await rowsOf(opened).first().waitFor();
        const asked = how === 'in the list' ? 1 : 2;
        expect(await rowsOf(opened).count()).toBe(asked);
        const filter = page.locator('.chip', { hasText: 'conversation-7' });
        await filter.getByRole('button', { name: 'Remove filter session' }).click();
        await page.waitForURL((url) => url.search === '?live=0');
        await filter.waitFor({ state: 'detached' });
        await eventually(() => rowsOf(opened).count()).toBeGreaterThan(asked);
        expect(problems).toEqual([]);
        await close();
      },
    );

    it('says why an attempt failed in the words of its provider', async () => {
      const answer = await send('simulator/fail-429', { models: ['simulator/standard'] });
      await answer.text();
      const { page, close, problems } = await under().opened(
        `/log?live=0#${answer.headers.get('x-generation-id')}`,
      );
      const rail = page.getByRole('list', { name: 'The route of this generation' });
      await rail.getByText(/“.+” The next one was tried\./).waitFor();
      expect(problems).toEqual([]);
      await close();
    });

    it('says of a blocked request that no model was called, and which guardrail refused it', async () => {
      const { body } = await under().manage.ask('POST', '/keys', { name: 'guarded' });
      const { id } = await under().manage.data(201, 'POST', '/guardrails', {
        name: 'No cards',
        content_filter_builtins: [{ slug: 'credit-card', action: 'block' }],
      });
      await under().manage.ask('POST', `/guardrails/${id}/assignments/keys`, {
        key_hashes: [body.data.hash],
      });
      const refused = await send(
        'simulator/standard',
        { messages: [{ role: 'user', content: 'Charge 4111 1111 1111 1111' }] },
        undefined,
        body.key,
      );
      expect(refused.status).toBe(403);
      const opened = await under().opened(`/log?key=${body.data.hash}`);
      const { page, close, problems } = opened;
      await rowsOf(opened).first().click();
      const drawer = page.locator('.drawer');
      await drawer.getByText('No model was called: the request was refused with 403 blocked.').waitFor();
      await drawer.getByText('Nothing was translated: no upstream was called.').waitFor();
      const guardrail = drawer.getByRole('link', { name: 'No cards' });
      expect(await guardrail.getAttribute('href')).toBe(`/guardrails/${id}`);
      expect(await drawer.locator('.finds').textContent()).toContain('Credit card number');
      expect(problems).toEqual([]);
      // The suite of guardrails begins with none.
      const deleted = await under().manage.ask('DELETE', `/guardrails/${id}`);
      expect(deleted.status).toBe(200);
      await close();
    });

    it('shows what the row of an imported generation has', async () => {
      const opened = await under().opened(`/log?${ownRows}&live=0`);
      await openWithoutRecord(opened);
      const facts = opened.page.getByRole('region', { name: 'What the log has' });
      await facts.getByText('it was imported').waitFor();
      expect(await facts.locator('.money').count()).toBe(1);
      await opened.close();
    });

    /** Opens the row of a generation whose record the gateway does not have. */
    async function openWithoutRecord({ page }: ConsolePage): Promise<void> {
      await page.route(/\/v1\/generation\?/, (route) =>
        route.fulfill({ status: 404, json: { error: { code: 404, message: 'Resource not found' } } }),
      );
      await page.locator('.logt tbody tr[data-id]').first().click();
    }

    it('shows new rows while it is live', async () => {
      const opened = await under().opened(`/log?${ownRows}&model=simulator/standard`);
      await eventually(() => rowsOf(opened).count()).toBeGreaterThan(0);
      const before = await rowsOf(opened).count();
      await ask('simulator/standard', 'user-4');
      await eventually(() => rowsOf(opened).count()).toBe(before + 1);
      expect(opened.problems).toEqual([]);
      await opened.close();
    });

    it('is in another order at once after it was live', async () => {
      const opened = await under().opened('/log');
      const { page, close, problems } = opened;
      await rowsOf(opened).first().waitFor();
      const newest = await rowsOf(opened).first().getAttribute('data-id');
      await ask('simulator/standard', 'user-5');
      await eventually(() => rowsOf(opened).first().getAttribute('data-id')).not.toBe(newest);
      await page.waitForResponse((answer) => answer.url().includes('ended_from='));
      await page.getByRole('button', { name: 'Total' }).click();
      await page.waitForURL(/sort=-duration_ms/);
      await page.getByText('The search goes on').waitFor({ state: 'detached' });
      // Of the history: the longest took nearly half a minute.
      const total = rowsOf(opened).first().locator('td.num').nth(-2);
      await eventually(() => total.textContent()).toMatch(/^29\.\d+ s$/);
      expect(problems).toEqual([]);
      await close();
    });

    it.each([1440, 1280, 1024, 800])(
      'fits a window %i pixels wide, with room for its columns',
      async (width) => {
        const opened = await under().opened('/log', { width });
        const { page, close } = opened;
        await rowsOf(opened).first().waitFor();
        const sizes = await page.evaluate<Record<'page' | 'window' | 'table' | 'list', number>>(`({
        page: document.documentElement.scrollHeight,
        window: window.innerHeight,
        table: document.querySelector('.logt').offsetWidth,
        list: document.querySelector('.split .list').clientWidth,
      })`);
        expect(sizes.page).toBe(sizes.window);
        expect(sizes.table).toBe(sizes.list);
        const cells = await page.evaluate<number[]>(
          `[...document.querySelectorAll('.logt thead th')].map((cell) => cell.offsetWidth)`,
        );
        const shown = cells.filter((cell) => cell > 0);
        const heads = await page.locator('.logt thead th:visible').allTextContents();
        const known = ['Provider', 'Key'].filter((name) => heads.includes(name));
        expect(known).toEqual(width > 1000 ? ['Provider', 'Key'] : []);
        for (const name of known) expect(shown[heads.indexOf(name)]).toBeGreaterThan(120);
        // The widths of all columns make up that of the table: none is left empty.
        expect(shown.reduce((sum, cell) => sum + cell)).toBeGreaterThan(sizes.table - shown.length);
        await close();
      },
    );

    it('says what to do when nothing matches', async () => {
      const opened = await under().opened('/log?search=nothing-like-it');
      await opened.page.getByText('No generation matches these filters').waitFor();
      await opened.page.getByRole('button', { name: 'Remove all filters' }).click();
      await eventually(() => rowsOf(opened).count()).toBeGreaterThan(2);
      await opened.close();
    });

    it('copies amounts with all nine places, alone and as part of a row', async () => {
      const opened = await under().opened(`/log?${ownRows}&model=simulator/standard&live=0`);
      const { page } = opened;
      await rowsOf(opened).first().locator('.money').waitFor();
      const copied = (part: string) =>
        page.evaluate<string>(`new Promise((resolve) => {
          getSelection().selectAllChildren(document.querySelector(${JSON.stringify(part)}));
          const read = ({ clipboardData }) => resolve(clipboardData.getData('text/plain'));
          addEventListener('copy', read, { once: true });
          document.execCommand('copy');
        })`);
      const exact = await copied('tr[data-id] .money');
      expect(exact).toMatch(/^0\.0\d{8}$/);
      expect(await rowsOf(opened).first().locator('.money').getAttribute('title')).toBe(`$${exact}`);
      expect((await copied('tr[data-id]')).split('\t')).toContain(exact);
      await opened.close();
    });

    it('exports what it shows', async () => {
      const opened = await under().opened(`/log?${ownRows}&state=failed`);
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
      await opened.close();
    });

    it('draws only the rows in sight of ten thousand, and goes through them with J and K', async () => {
      const opened = await under().opened('/sessions');
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
      // Only the page of the log: the first run looks at generations too.
      await page.route(/\/v1\/generations\?.*limit=200/, (route) =>
        route.fulfill({ json: { data, next: null, previous: null } }),
      );
      await page.goto('/log?live=0');
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
      await opened.close();
    });

    it('has rows of refused requests, which say why, and which the overview leads to', async () => {
      const { body } = await under().manage.ask('POST', '/keys', { name: 'refused', limit: 0 });
      for (let count = 0; count < 3; count++) {
        expect((await send('simulator/standard', {}, undefined, body.key)).status).toBe(402);
      }
      const stored = async () => {
        const { body: found } = await under().manage.ask('GET', `/generations?key=${body.data.hash}`);
        return found.data.length as number;
      };
      await eventually(stored).toBe(3);
      const { page, close, problems } = await under().opened('/');
      const note = page.locator('.att li', { hasText: 'refused is refused' });
      await note.getByText('3 × 402 limit used up').waitFor();
      await note.getByRole('link', { name: 'Log' }).click();
      await page.waitForURL(/\/log\?state=refused&key=/);
      const row = page.locator('.logt tbody tr[data-id]', { hasText: '402 limit used up' }).first();
      await row.locator('.dot.refused').waitFor();
      await row.click();
      await page.locator('.drawer .note').getByText('Key limit').waitFor();
      expect(problems).toEqual([]);
      await close();
    });

    it('shows a plain key itself alone, on a phone', async () => {
      const reader = await signedInReader(under().browser, gateway, key);
      const opened = await openPage(reader, { width: 390, height: 844 });
      await opened.page.goto('/log');
      await eventually(() => opened.page.locator('.m-log li[data-id]').count()).toBeGreaterThan(2);
      expect(await opened.page.evaluate('document.documentElement.scrollWidth')).toBe(390);
      expect(opened.problems).toEqual([]);
      await opened.close();
    });
  });
}
