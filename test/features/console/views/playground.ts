import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestGateway } from '../../../kit/gateway-harness.ts';
import { type ConsolePage, eventually, openPage } from '../browser.ts';
import { type ConsoleUnderTest, signedInReader } from '../console-under-test.ts';

/** A picture of one point. */
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

interface KeyRow {
  readonly hash: string;
  readonly name: string;
  readonly usage: number;
}

export function playgroundSuite(under: () => ConsoleUnderTest): void {
  describe('the playground', () => {
    let gateway: TestGateway;
    let opened: ConsolePage;
    beforeAll(async () => {
      ({ gateway } = under());
      opened = await under().opened('/playground');
    });
    afterAll(() => opened.close());

    const asManager = async <T>(path: string, method = 'GET', body?: unknown): Promise<T> => {
      const response = await gateway.fetch(path, {
        method,
        key: gateway.managementKey,
        ...(body !== undefined && {
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json' },
        }),
      });
      return (await response.json()) as T;
    };

    /** Opens the playground anew, at an address. */
    const openAt = async (query: string) => {
      const { page } = opened;
      await page.goto(`/playground?${query}`);
      await page.getByRole('button', { name: 'Key that pays' }).waitFor();
      return page;
    };

    it('asks which of several keys pays, and remembers it', async () => {
      const { data: made } = await asManager<{ data: KeyRow }>('/keys', 'POST', { name: 'of the lab' });
      const page = await openAt('model=simulator/standard');
      await page.getByRole('button', { name: 'Key that pays: choose one' }).waitFor();
      await page.getByLabel('Message').fill('Hello');
      const send = page.getByRole('button', { name: 'Send' });
      expect(await send.getAttribute('title')).toBe('Choose the key that pays.');
      expect(await send.isDisabled()).toBe(true);
      await page.getByRole('button', { name: 'Key that pays' }).click();
      await page.getByRole('option', { name: made.name }).click();
      await page.getByRole('button', { name: 'Key that pays: of the lab' }).waitFor();
      await openAt('model=simulator/standard');
      await page.getByRole('button', { name: 'Key that pays: of the lab' }).waitFor();
    });

    it('shows a refusal of a guardrail in its words alone', async () => {
      const { data: key } = await asManager<{ data: KeyRow }>('/keys', 'POST', { name: 'guarded' });
      const { data: guardrail } = await asManager<{ data: { id: string } }>('/guardrails', 'POST', {
        name: 'Only one model',
        allowed_models: ['simulator/standard'],
      });
      await asManager(`/guardrails/${guardrail.id}/assignments/keys`, 'POST', { key_hashes: [key.hash] });
      const page = await openAt(`model=simulator/reasoning&key=${key.hash}`);
      await page.getByLabel('Message').fill('Hello');
      await page.getByRole('button', { name: 'Send' }).click();
      const alert = page.getByRole('log', { name: 'Conversation' }).getByRole('alert');
      await alert.getByText('This key may not use').waitFor();
      expect(await alert.textContent()).not.toMatch(/management key|deleted since/);
    });

    it('explains no request before it has a model', async () => {
      const { page } = opened;
      const models: string[] = [];
      page.on('request', (request) => {
        if (request.url().endsWith('/routing/explain')) models.push(request.postDataJSON().model);
      });
      await page.goto('/playground');
      await page.getByRole('list', { name: 'Route' }).waitFor();
      expect(new Set(models)).toEqual(new Set(['simulator/standard']));
    });

    it.each(['responses', 'messages', 'chat'])(
      'streams an answer with its reasoning as %s',
      async (format) => {
        const page = await openAt(`format=${format}&model=simulator/reasoning`);
        await page.getByLabel('Message').fill('What <b>time</b> is it?<script>alert(1)</script>');
        await page.getByLabel('Message').press('Control+Enter');
        const log = page.getByRole('log', { name: 'Conversation' });
        await log.getByText('simulated answer').waitFor();
        await log.getByText('Reasoning').click();
        await log.getByText('simulated thoughts').waitFor();
        const link = page.getByRole('link', { name: 'In the log' });
        await link.waitFor();
        const id = (await link.getAttribute('href'))?.replace('/log#', '') ?? '';
        const { data } = await asManager<{ data: { total_cost: number } }>(`/generation?id=${id}`);
        const cost = await page.locator('.pane-f .money').getAttribute('title');
        expect(Number(cost?.slice(1))).toBe(data.total_cost);
        expect(await log.locator('script, b').count()).toBe(0);
        expect(opened.problems).toEqual([]);
      },
    );

    it('shows tokens as they come, and stops', async () => {
      const page = await openAt('model=simulator/slow-stream');
      await page.getByLabel('Message').fill('Tell me a long story');
      await page.getByRole('button', { name: 'Send' }).click();
      const said = page.locator('.ans .said').nth(1);
      await said.waitFor();
      const first = (await said.textContent()) ?? '';
      await eventually(async () => ((await said.textContent()) ?? '').length).toBeGreaterThan(first.length);
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByText('Stopped.').waitFor();
    });

    it('sends pictures and tools, shows the call and takes its result', async () => {
      const page = await openAt('model=simulator/tools');
      await page
        .getByLabel('Images')
        .setInputFiles({ name: 'point.png', mimeType: 'image/png', buffer: PICTURE });
      await page.getByRole('button', { name: 'Remove point.png' }).waitFor();
      await page.getByRole('button', { name: 'Tools', exact: true }).click();
      await page.getByLabel('Functions that the model may call').fill('[{"name": "get_weather"}]');
      await page.getByRole('button', { name: 'Save tools' }).click();
      await page.getByText('Tool 1 needs a name').waitFor();
      await page.getByRole('button', { name: 'Insert an example' }).click();
      await page.getByRole('button', { name: 'Save tools' }).click();
      await page.getByLabel('Message').fill('Use get_weather');
      await page.getByRole('tab', { name: 'Request' }).click();
      const code = page.locator('.pg-r pre');
      expect(await code.textContent()).toContain('data:image/png;base64,');
      expect(await code.textContent()).toContain('$SIGNALBOX_KEY');
      await page.getByRole('button', { name: 'Python' }).click();
      expect(await code.textContent()).toContain('from openai import OpenAI');
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByLabel('Result of get_weather').fill('It rains.');
      await page.getByRole('button', { name: 'Send result' }).click();
      await page.getByText('The tool returned "It rains."').waitFor();
      expect(opened.problems).toEqual([]);
    });

    it('asks two models at once, found by search, and charges the chosen key', async () => {
      const { data: created } = await asManager<{ data: KeyRow }>('/keys', 'POST', { name: 'pays here' });
      await asManager('/keys', 'POST', { name: 'cannot pay', limit: 0 });
      const page = await openAt('model=simulator/standard');
      await page.getByRole('button', { name: 'Side by side' }).click();
      await page.waitForURL(/second=simulator%2F(?!standard)/);
      await page.getByRole('button', { name: 'Model B' }).click();
      await page.getByLabel('Search: Model B').fill('reason');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Key that pays' }).click();
      await page.getByRole('option', { name: /pays here/ }).click();
      await page.getByLabel('Message').fill('Hello both');
      await page.getByRole('button', { name: 'Send to both' }).click();
      await eventually(() => page.getByRole('link', { name: 'In the log' }).count()).toBe(2);
      expect(page.url()).toContain('second=simulator%2Freasoning');
      const { data } = await asManager<{ data: KeyRow }>(`/keys/${created.hash}`);
      expect(data.usage).toBeGreaterThan(0);
    });

    it('explains the routing, and compares a past decision with the one of now', async () => {
      const { data: workspaces } = await asManager<{ data: { id: string }[] }>('/workspaces');
      await asManager(`/workspaces/${workspaces[0]?.id}`, 'PATCH', {
        is_observability_io_logging_enabled: true,
      });
      const answered = await gateway.post('/responses', {
        model: 'simulator/standard',
        instructions: 'Be kind.',
        input: 'A stored question',
      });
      const id = answered.headers.get('x-generation-id') ?? '';
      await eventually(async () => (await gateway.fetch(`/generation/content?id=${id}`)).status).toBe(200);
      const page = await openAt(`generation=${id}`);
      await page
        .getByRole('list', { name: 'Route of then' })
        .getByText('Simulator', { exact: true })
        .waitFor();
      await page.getByText('The same: the same endpoints').waitFor();
      await page.getByRole('log').getByText('A stored question').waitFor();
      expect(await page.getByLabel('System').inputValue()).toBe('Be kind.');
      await page.getByRole('tab', { name: 'Parameters' }).click();
      await page.getByLabel('Routing preferences').fill('{"ignore": ["simulator"]}');
      await page.getByRole('tab', { name: 'Explain routing' }).click();
      await page.getByText('Today no endpoint is left').waitFor();
      await page.getByRole('list', { name: 'Route of then' }).getByText('left out today').waitFor();
      await page.getByRole('list', { name: 'Route of today' }).getByText('served then').waitFor();
      await page.getByRole('list', { name: 'Route', exact: true }).getByText('ignore').first().waitFor();
      expect(opened.problems).toEqual([]);
    });

    it('replays a request with fallback models in its own format', async () => {
      const answered = await gateway.post('/chat/completions', {
        models: ['simulator/fail-500', 'simulator/standard'],
        messages: [{ role: 'user', content: 'Fall back' }],
      });
      const id = answered.headers.get('x-generation-id') ?? '';
      const page = await openAt(`generation=${id}`);
      await page.getByText('Then the request named fallback models').waitFor();
      await eventually(() => new URL(page.url()).searchParams.get('format')).toBe('chat');
      expect(await page.getByText('no longer in the catalogue').count()).toBe(0);
    });

    it('links to the key that cannot pay, and not to a log that has no row', async () => {
      const { data: empty } = await asManager<{ data: KeyRow }>('/keys', 'POST', { name: 'empty', limit: 0 });
      const page = await openAt(`model=simulator/standard&key=${empty.hash}`);
      await page.getByLabel('Message').fill('Who pays?');
      await page.getByRole('button', { name: 'Send' }).click();
      const link = page.getByRole('link', { name: 'Raise the limit of the key' });
      await link.waitFor();
      expect(await link.getAttribute('href')).toBe(`/keys#${empty.hash}`);
      expect(await page.getByText('Manage it using').count()).toBe(0);
      expect(await page.getByRole('link', { name: 'In the log' }).count()).toBe(0);
    });

    it('is for plain keys too, which act as themselves, and keeps what was typed', async () => {
      const reader = await signedInReader(under().browser, gateway, gateway.apiKey);
      const own = await openPage(reader);
      await own.page.goto('/playground?model=simulator/fail-500');
      await own.page.getByLabel('Message').fill('Fail, please');
      await own.page.getByRole('button', { name: 'Send' }).click();
      await own.page.getByRole('button', { name: 'Try again' }).waitFor();
      expect(await own.page.getByRole('button', { name: 'Key that pays' }).count()).toBe(0);
      await own.page.getByLabel('Message').fill('A draft');
      await own.page.getByRole('link', { name: 'Signed-in browsers' }).click();
      await own.page.getByText('this browser').waitFor();
      await own.page.goBack();
      expect(await own.page.getByLabel('Message').inputValue()).toBe('A draft');
      await own.page.getByText('Fail, please').waitFor();
      await reader.close();
    });
  });
}
