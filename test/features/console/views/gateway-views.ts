import { readFileSync, writeFileSync } from 'node:fs';
import type { BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openFakeUpstream } from '../../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../../kit/management.ts';
import { openPage } from '../browser.ts';
import { type ConsoleUnderTest, signedInReader } from '../console-under-test.ts';
import { findingsAt } from '../findings-at.ts';

const MARKUP = '<img src=x onerror="document.title=1">';

export function gatewayViewsSuite(under: () => ConsoleUnderTest): void {
  describe('models, providers, presets and configuration in the console', () => {
    let gateway: TestGateway;
    let manage: Management;
    let reader: BrowserContext;

    beforeAll(async () => {
      // Nobody listens there any more: a refused connection cools an endpoint down for everyone.
      const upstream = await openFakeUpstream();
      await upstream.close();
      gateway = await openTestGateway({
        routing: { cooldown: { failures: 1, base_ms: 600_000, max_ms: 600_000 }, attempts_per_model: 1 },
        providers: [
          { slug: 'workshop', name: MARKUP, dialect: 'openai-chat', base_url: upstream.url, api_key: 'k' },
          { slug: 'simulator' },
        ],
        models: [
          {
            id: 'workshop/qwen',
            context_length: 40_000,
            endpoints: [
              {
                provider: 'workshop',
                model: 'qwen',
                pricing: { prompt: '0.000001', completion: '0.000004' },
              },
            ],
          },
        ],
        presets: { careful: { model: 'workshop/qwen', temperature: 0 } },
      });
      manage = managementOf(gateway);
      reader = await signedInReader(under().browser, gateway, gateway.managementKey);
      const ask = (model: string) =>
        gateway.post('/chat/completions', { model, messages: [{ role: 'user', content: 'Hello' }] });
      await ask('simulator/standard');
      await vi.waitFor(
        async () => {
          await ask('workshop/qwen');
          const [endpoint] = await manage.data(200, 'GET', '/gateway/endpoints?model=workshop/qwen');
          expect(endpoint.cooldown).not.toBeNull();
        },
        { timeout: 10_000 },
      );
      writeFileSync(
        gateway.configFile,
        readFileSync(gateway.configFile, 'utf8').replace(/prompt: .*/, 'prompt: "0.000002"'),
      );
      await vi.waitFor(
        async () => {
          expect((await manage.ask('GET', '/gateway/prices')).body.total_count).toBe(1);
        },
        { timeout: 10_000 },
      );
    });
    afterAll(async () => {
      await reader.close();
      await gateway.close();
    });

    const opened = async (address: string) => {
      const opening = await openPage(reader);
      await opening.page.goto(address);
      return opening;
    };

    it('lists models with prices per million, searches and sorts them, all in the address', async () => {
      const { page, close, problems } = await opened('/models');
      const table = page.getByRole('table', { name: 'Models' });
      const row = table.getByRole('row', { name: /qwen/ });
      await row.waitFor();
      expect(await row.textContent()).toMatch(/40 K.*2\.00.*4\.00/);
      await table.getByRole('row', { name: /simulator\/standard .*100 %/ }).waitFor();
      const heads = table.getByRole('columnheader');
      expect(
        await heads.evaluateAll((all) => all.filter((head) => head.scrollWidth > head.clientWidth).length),
      ).toBe(0);
      await page.getByRole('searchbox').fill('qwen');
      await page.waitForURL(/search=qwen/);
      expect(await table.getByRole('row').count()).toBe(2);
      await page.goto('/models?sort=-prompt');
      await table.getByRole('row').nth(1).getByText('qwen').waitFor();
      await table.getByRole('button', { name: /Prompt/ }).click();
      await page.waitForURL(/sort=prompt/);
      expect(await table.getByRole('row').nth(1).textContent()).not.toContain('qwen');
      expect(problems).toEqual([]);
      await close();
    });

    it('opens a model with the health of its endpoints and the history of its prices', async () => {
      const { page, close, problems } = await opened('/models');
      await page.getByRole('button', { name: 'Endpoints of workshop/qwen' }).click();
      const endpoints = page.getByRole('table', { name: 'Endpoints of workshop/qwen' });
      await endpoints.getByText('Cooling down').waitFor();
      expect(await endpoints.getByRole('img').getAttribute('aria-label')).toMatch(/calls in 24 hours, [1-9]/);
      const uptime = page.getByRole('table', { name: 'Uptime of workshop/qwen' });
      await uptime.getByRole('row', { name: /^workshop .*0 of \d+ 0 of \d+ 0 of \d+/ }).waitFor();
      expect(await uptime.getByRole('img').getAttribute('aria-label')).toMatch(
        /^30 days: \d+ calls?, \d+ failed/,
      );
      const history = page.getByRole('region', { name: 'History of prices' });
      await history.getByText('workshop prompt 1.00 to 2.00').waitFor();
      expect(page.url()).toContain('open=workshop');
      expect(problems).toEqual([]);
      await close();
    });

    it('opens a model in a narrower window as wide as its list', async () => {
      const { page, close, problems } = await opened('/models?open=workshop/qwen');
      const row = page.locator('tr.mrow.open');
      const detail = page.locator('tr.exp');
      for (const width of [1_440, 1_120, 900, 390]) {
        await page.setViewportSize({ width, height: 800 });
        await detail.waitFor();
        const ends = async () => {
          const boxes = [await row.locator('td:visible').last().boundingBox(), await detail.boundingBox()];
          return boxes.map((box) => Math.round((box?.x ?? 0) + (box?.width ?? 0)));
        };
        await vi.waitFor(
          async () => {
            const [ofList, ofDetail] = await ends();
            expect([width, ofList]).toEqual([width, ofDetail]);
          },
          { timeout: 20_000 },
        );
      }
      expect(problems).toEqual([]);
      await close();
    });

    it('compares models side by side', async () => {
      const { page, close, problems } = await opened('/models');
      await page.getByLabel('Compare workshop/qwen').check();
      expect(await page.getByRole('button', { name: 'Compare', exact: true }).isDisabled()).toBe(true);
      await page.getByLabel('Compare simulator/standard').check();
      await page.getByRole('button', { name: 'Compare', exact: true }).click();
      const dialog = page.getByRole('dialog', { name: 'Compare models' });
      await dialog.getByRole('row', { name: /Prompt, \$ per million/ }).waitFor();
      expect(await dialog.getByRole('columnheader').allTextContents()).toEqual(
        expect.arrayContaining(['workshop/qwen', 'simulator/standard']),
      );
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      expect(problems).toEqual([]);
      await close();
    });

    it('shows which provider is out, until when and why, and keys by the name of their variable', async () => {
      const { page, close, problems } = await opened('/providers');
      const row = page.getByRole('row', { name: /1 of 1 endpoints out/ });
      await row.getByRole('button').click();
      const panel = page.getByRole('complementary', { name: MARKUP });
      await panel.getByText(/is left alone for another/).waitFor();
      await panel.getByText(/The last failure: \w+/).waitFor();
      await panel.getByText(/cools down for .*: 1 failure, the last/).waitFor();
      await page.getByText('ANTHROPIC_API_KEY').waitFor();
      expect(await page.title()).not.toBe('1');
      await page.keyboard.press('Escape');
      await panel.waitFor({ state: 'detached' });
      expect(problems).toEqual([]);
      await close();
    });

    it('shows the uptime of a provider over 24 hours, 7 and 30 days, and says if there were no calls', async () => {
      const { page, close, problems } = await opened('/providers?provider=simulator');
      const panel = page.getByRole('complementary', { name: /simulator/i });
      const figures = panel.locator('.upf');
      await figures.waitFor();
      expect(await figures.textContent()).toMatch(/24 hours1 of 17 days1 of 130 days1 of 1/);
      // Each bar is a day, the last one is today.
      const tones = () =>
        panel.locator('svg.up rect').evaluateAll((bars) => bars.map((bar) => bar.getAttribute('class')));
      expect(await tones()).toEqual([...new Array(29).fill('z'), 'o']);
      const showing = async (uptime: object | null) => {
        await page.unrouteAll();
        await page.route('**/gateway/providers', async (route) => {
          const response = await route.fetch();
          const { data } = (await response.json()) as { data: object[] };
          await route.fulfill({ response, json: { data: data.map((each) => ({ ...each, uptime })) } });
        });
        await page.reload();
      };
      const none = { percent: null, calls: 0, failures: 0 };
      await showing({ last_1d: none, last_7d: none, last_30d: none, days: null });
      await figures.getByText('no calls').first().waitFor();
      expect(await figures.textContent()).toBe('24 hoursno calls7 daysno calls30 daysno calls');
      expect(await tones()).toEqual(new Array(30).fill('z'));
      await showing(null);
      await panel.getByText('Not known now: the database does not answer.').waitFor();
      await page.unrouteAll();
      expect(problems).toEqual([]);
      await close();
    });

    it('shows presets with their content', async () => {
      const { page, close, problems } = await opened('/presets');
      await page.getByRole('button', { name: 'Content of careful' }).click();
      await page.getByText('"temperature": 0').waitFor();
      await page.getByText('"model": "@preset/careful"').waitFor();
      expect(problems).toEqual([]);
      await close();
    });

    it('says where values come from, what doctor finds, and that a file was refused', async () => {
      const { page, close, problems } = await opened('/configuration?search=base_ms');
      const row = page.getByRole('row', { name: /routing.cooldown.base_ms/ });
      await row.getByText('10 min').waitFor();
      expect(await row.textContent()).toMatch(/line \d+/);
      await page.getByRole('rowheader', { name: 'Routing' }).waitFor();
      await page
        .getByRole('region', { name: 'Findings of doctor' })
        .getByText(/workshop\/qwen at workshop cools down/)
        .waitFor();
      const good = readFileSync(gateway.configFile, 'utf8');
      writeFileSync(gateway.configFile, `routng: {}\n${good}`);
      await vi.waitFor(
        async () => {
          const { last_reload: reload } = await manage.data(200, 'GET', '/gateway/configuration');
          expect(reload.is_accepted).toBe(false);
        },
        { timeout: 10_000 },
      );
      await page.reload();
      await page.getByText(/The file was refused .*stays in force/).waitFor();
      await page.getByText('routng').first().waitFor();
      writeFileSync(gateway.configFile, good);
      expect(problems).toEqual([]);
      await close();
    });

    it('has no serious finding of axe, and fits a phone', async () => {
      const { page, close, problems } = await opened('/presets');
      const found = await findingsAt(page, [
        ['/presets?open=careful', 'pre'],
        ['/models?open=workshop/qwen', '.exp-p .phl'],
        ['/providers?provider=workshop', '.evl'],
        ['/configuration?search=cooldown', 'summary'],
      ]);
      expect(found).toEqual({});
      expect(problems).toEqual([]);
      await close();
    }, 180_000);

    it('says which key could, to a management key of another account', async () => {
      const other = await manage.command('accounts.create', { name: 'other' });
      const stranger = await signedInReader(under().browser, gateway, other.management_key);
      const opening = await openPage(stranger);
      await opening.page.goto('/providers');
      await opening.page.getByText(/management keys of the first account/).waitFor();
      await opening.page.goto('/models');
      await opening.page.getByRole('row', { name: /qwen/ }).waitFor();
      await stranger.close();
    });
  });
}
