import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestGateway, type TestGateway } from '../../../kit/gateway-harness.ts';
import { openPage } from '../browser.ts';
import { type ConsoleUnderTest, signedInReader } from '../console-under-test.ts';
import { IS_INJECTED, MARKUP, PageRequests, showView } from '../findings-at.ts';

/** Whatever the file can name, named by markup. Nothing answers at the provider's address. */
const CONFIGURATION = {
  limits: { analytics_per_minute: 100_000 },
  providers: [
    { slug: 'simulator' },
    { slug: 'hostile', name: MARKUP, dialect: 'openai-chat', base_url: 'http://127.0.0.1:9/v1' },
  ],
  models: [
    {
      id: 'hostile/model',
      name: MARKUP,
      context_length: 40_000,
      endpoints: [
        {
          provider: 'hostile',
          model: MARKUP,
          pricing: { prompt_per_million: 0.1, completion_per_million: 0.4 },
        },
      ],
    },
  ],
  presets: { hostile: { model: 'hostile/model', system: MARKUP } },
  workspaces: [{ name: MARKUP, slug: 'hostile', keys: [{ name: MARKUP, hash: 'cd'.repeat(32) }] }],
};

/** Addresses with more in them than those of the navigation; `true`: the names are seen there. */
const ADDRESSES: readonly (readonly [address: string, isNamed: boolean])[] = [
  ['/?by=provider', true],
  ['/log', false],
  ['/models?open=hostile/model', true],
  ['/providers?provider=hostile', true],
  ['/playground?model=hostile/model', false],
  ['/keys', true],
  ['/workspaces', true],
  ['/apps', true],
];

export function markupSuite(under: () => ConsoleUnderTest): void {
  describe('names of the configuration file and of apps that are markup', () => {
    let gateway: TestGateway;
    beforeAll(async () => {
      gateway = await openTestGateway(CONFIGURATION);
    });
    afterAll(() => gateway.close());

    it('are shown as text by every view, and never run', async () => {
      const generationIds: string[] = [];
      for (const model of ['hostile/model', 'simulator/standard']) {
        const answer = await gateway.post(
          '/chat/completions',
          { model, messages: [{ role: 'user', content: MARKUP }] },
          { 'x-title': MARKUP, 'http-referer': `https://app.example/?${encodeURI(MARKUP)}` },
        );
        await answer.text();
        generationIds.push(answer.headers.get('x-generation-id') ?? '');
      }
      const reader = await signedInReader(under().browser, gateway, gateway.managementKey);
      const { page, problems } = await openPage(reader);
      await page.goto('/more');
      await page.locator('nav.nav li a').first().waitFor();
      const views = await page
        .locator('nav.nav li a')
        .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
      const requests = new PageRequests(page);
      const generations = generationIds.map((id) => [`/log#${id}`, false] as const);
      const named = new Set(ADDRESSES.map(([address]) => address.replace(/\?.*/, '')));
      const unnamed: string[] = [];
      for (const [address, isNamed] of [
        ...views.filter((view) => !named.has(view)).map((view) => [view, false] as const),
        ...ADDRESSES,
        ...generations,
      ]) {
        await showView(page, requests, address, 'main#main');
        const text = (await page.locator('body').textContent()) ?? '';
        if (isNamed && !text.includes(MARKUP)) unnamed.push(address);
        expect([address, await page.evaluate<boolean>(IS_INJECTED)]).toEqual([address, false]);
      }
      expect(unnamed).toEqual([]);
      expect(problems).toEqual([]);
      await reader.close();
    }, 120_000);
  });
}
