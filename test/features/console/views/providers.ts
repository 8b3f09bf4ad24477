import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ModelServer, openModelServer } from '../../../kit/fakes/model-server.ts';
import { openTestGateway, type TestGateway } from '../../../kit/gateway-harness.ts';
import { type ConsolePage, eventually, openPage, seriousFindings, signInAt } from '../browser.ts';
import { openReader } from '../chromium.ts';
import type { ConsoleUnderTest } from '../console-under-test.ts';

const KEY = 'sk-right-4a7f19c3e8d25b60-WXYZ';

const MODELS = [{ id: 'llama3.2:3b', max_model_len: 131_072 }, { id: 'qwen3' }];

export function providersSuite(under: () => ConsoleUnderTest): void {
  describe('a provider that is added in the console', () => {
    let upstream: ModelServer;
    let gateway: TestGateway;
    let opened: ConsolePage;
    beforeAll(async () => {
      upstream = await openModelServer(MODELS, KEY);
      gateway = await openTestGateway();
      opened = await openPage(await openReader(under().browser, gateway.origin));
    });
    afterAll(async () => {
      await opened.page.context().close();
      await gateway.close();
      await upstream.close();
    });

    const stored = async () => {
      const response = await gateway.fetch('/gateway/providers/workshop', { key: gateway.managementKey });
      return ((await response.json()) as { data: any }).data;
    };

    it('answers within one visit, from the sign-in to the first answer', async () => {
      const { page, problems } = opened;
      await signInAt(opened, '/start', gateway.managementKey);
      await page.getByRole('button', { name: 'Add server of your own' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Address').fill(upstream.url);
      await dialog.getByLabel('Slug').fill('workshop');
      await dialog.getByLabel('Key', { exact: true }).fill('sk-wrong-0123456789-ABCD');
      await dialog.getByRole('button', { name: 'Test and list models' }).click();
      await dialog.getByText('Incorrect API key provided').waitFor();
      await dialog.getByText('Status 401').waitFor();
      await dialog.getByLabel('Key', { exact: true }).fill(KEY);
      await dialog.getByRole('button', { name: 'Test and list models' }).click();
      await dialog.getByText('lists 2 models').waitFor();
      expect(await dialog.getByLabel('llama3.2:3b', { exact: true }).isChecked()).toBe(true);
      await dialog.getByLabel('qwen3', { exact: true }).uncheck();
      await dialog.getByLabel('$ per million tokens in, llama3.2:3b').fill('0.10');
      expect(await seriousFindings(page)).toEqual([]);
      expect(await dialog.textContent()).not.toContain(KEY);
      await dialog.getByRole('button', { name: 'Serve' }).click();
      await page.getByText('workshop is served.').waitFor();
      await page.getByRole('heading', { name: 'Add a provider done' }).waitFor();
      expect(await stored()).toMatchObject({
        workspace_ids: null,
        models: [
          {
            id: 'workshop/llama3.2-3b',
            context_length: 131_072,
            pricing: { prompt: '0.0000001', completion: '0' },
          },
        ],
      });
      await page.goto('/playground?model=workshop/llama3.2-3b');
      await page.getByLabel('Message').fill('Hello');
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByText('hello from upstream').waitFor();
      expect(upstream.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
      expect(problems).toEqual([]);
    });

    it('is tested, changed, switched off and removed in its row', async () => {
      const { page, problems } = opened;
      await page.goto('/providers?provider=workshop');
      const panel = page.getByRole('complementary', { name: 'workshop' });
      await panel.getByText('Added here. Serves all workspaces with the key sk-...WXYZ.').waitFor();
      await panel.getByRole('button', { name: 'Test' }).click();
      await panel.getByText('lists 2 models').waitFor();
      await panel.getByRole('button', { name: 'Change' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Test and list models' }).click();
      await dialog.getByLabel('qwen3', { exact: true }).check();
      await dialog.getByRole('button', { name: 'Save changes' }).click();
      await eventually(async () => (await stored()).models.length).toBe(2);
      await panel.getByRole('button', { name: 'Stop serving' }).click();
      await panel.getByText('Added here, and switched off: it serves nothing.').waitFor();
      await panel.getByRole('button', { name: 'Serve again' }).click();
      await panel.getByText('Added here. Serves all workspaces').waitFor();
      await panel.getByRole('button', { name: 'Remove' }).click();
      await page.getByRole('button', { name: 'Remove provider' }).click();
      await panel.waitFor({ state: 'detached' });
      expect(await stored()).toBeUndefined();
      expect(problems).toEqual([]);
    });

    it('needs a key alone if it is known, and says what is wrong with it', async () => {
      const { page, problems } = opened;
      await page.goto('/providers');
      await page.getByRole('button', { name: 'Add key of Google', exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Serve' }).click();
      await dialog.getByText('Paste its key.').waitFor();
      await dialog.getByLabel('Key', { exact: true }).fill('no-document');
      await dialog.getByRole('button', { name: 'Serve' }).click();
      await dialog.getByText('JSON').first().waitFor();
      expect(await dialog.getByLabel('Key', { exact: true }).getAttribute('aria-invalid')).toBe('true');
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('button', { name: 'Add key of Anthropic' }).click();
      await dialog.getByLabel('Key', { exact: true }).fill('sk-ant-0123456789-ABCD');
      await dialog.getByRole('button', { name: 'Serve' }).click();
      await page.getByText('Anthropic is served.').waitFor();
      await page
        .getByRole('row', { name: /Anthropic/ })
        .getByText('added here')
        .waitFor();
      expect(problems).toEqual([]);
    });
  });
}
