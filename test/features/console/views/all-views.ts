import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestGateway } from '../../../kit/gateway-harness.ts';
import { type ConsolePage, openPage, seriousFindings } from '../browser.ts';
import { type ConsoleUnderTest, signedInReader } from '../console-under-test.ts';
import { findingsAt, goTo, MARKUP, PageRequests, showView } from '../findings-at.ts';

const PROMPT = `Hello <script>window.injected=1</script>${MARKUP}`;

/** All views are reached through the navigation, so that a new one is tried without a change here. */
async function viewsOf(page: Page): Promise<readonly string[]> {
  await page.locator('nav.nav li a').first().waitFor();
  return page
    .locator('nav.nav li a')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
}

/** What all views have in common. To be tried last, when there is something in every one of them. */
export function allViewsSuite(under: () => ConsoleUnderTest): void {
  describe('every view of the console', () => {
    let opened: ConsolePage;
    let made: Made;

    beforeAll(async () => {
      made = await fill(under());
      opened = await under().opened('/more');
      opened.page.on('response', (response) => {
        if (response.status() === 400) opened.problems.push(`asked wrongly: ${response.url()}`);
      });
    });
    afterAll(() => opened.close());

    it('can be used by everyone, light, dark and on a phone, and shows names and prompts as text', async () => {
      const views = await viewsOf(opened.page);
      const found = await findingsAt(opened.page, [
        ...[...views, '/more'].map((path) => [path, 'main#main'] as const),
        ['/keys#create', 'dialog form'],
        [`/workspaces#${made.workspaceId}`, 'dialog form'],
        ['/credentials#create', 'dialog form'],
        [`/guardrails/${made.guardrailId}`, '.tryt, .tryin'],
        [`/log#${made.generationId}`, '.drawer .facts'],
        [`/playground?generation=${made.generationId}`, '[aria-label="Route of then"]'],
      ]);
      expect(found).toEqual({});
      expect(opened.problems).toEqual([]);
    }, 180_000);

    it('answers at the address of each view', async () => {
      const { page } = opened;
      await page.goto('/more');
      for (const path of await viewsOf(page)) {
        const response = await page.request.get(path, { headers: { accept: 'text/html' } });
        expect([path, response.status()]).toEqual([path, 200]);
      }
    });

    it('can be used by everyone in the dialogs that ask before they act', async () => {
      const { page } = opened;
      await goTo(page, '/guardrails');
      await page.getByRole('button', { name: 'Create guardrail' }).first().click();
      await page.getByRole('dialog', { name: 'Create a guardrail' }).waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: `Actions for ${MARKUP}` }).click();
      expect(await seriousFindings(page)).toEqual([]);
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByRole('dialog', { name: `Delete ${MARKUP}?` }).waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      await page.keyboard.press('Escape');
      expect(opened.problems).toEqual([]);
    });

    it('asks for less than one thing a second while nothing happens', async () => {
      const { browser, gateway } = under();
      const reader = await signedInReader(browser, gateway, gateway.managementKey);
      const { page } = await openPage(reader);
      await page.clock.install();
      await page.goto('/more');
      const requests = new PageRequests(page);
      const rates: Record<string, number> = {};
      for (const path of await viewsOf(page)) {
        await showView(page, requests, path, 'main#main');
        const before = requests.sent;
        for (let second = 0; second < SECONDS; second++) {
          await page.clock.runFor(1_000);
          // Answers set the timers of the next questions.
          await requests.answered();
        }
        const rate = (requests.sent - before) / SECONDS;
        if (rate >= 1) rates[path] = rate;
      }
      expect(rates).toEqual({});
      await reader.close();
    }, 180_000);

    it('is worked by the keyboard', async () => {
      const { page, problems } = opened;
      await goTo(page, '/sessions');
      await page.getByText('this browser').first().waitFor();
      await page.getByText('Serving', { exact: true }).waitFor();
      await page.keyboard.press('g');
      await page.keyboard.press('p');
      await page.getByRole('heading', { name: 'Playground' }).waitFor();
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog', { name: 'Keyboard' }).waitFor({ state: 'detached' });
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog', { name: 'Search or jump' }).waitFor();
      await page.keyboard.type('of the over');
      await page.getByRole('option', { name: 'of the overview Key' }).waitFor();
      await page.keyboard.press('Control+Enter');
      await page.waitForURL(/\/log\?key=[0-9a-f]{64}$/);
      await page.keyboard.press('Control+k');
      await page.getByLabel('A view, key, model').fill('sess');
      expect(await seriousFindings(page)).toEqual([]);
      await page.keyboard.press('Enter');
      await page.getByText('this browser').first().waitFor();
      await page.reload();
      await page.getByText('this browser').first().waitFor();
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.textContent')).toBe('To the content');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.closest("main") !== null')).toBe(true);
      expect(problems).toEqual([]);
    });
  });
}

/** Time that an idle view is watched for: longer than any of them waits between two questions. */
const SECONDS = 30;

interface Made {
  readonly workspaceId: string;
  readonly guardrailId: string;
  readonly generationId: string;
}

/** Names and prompts that would do harm as markup, an answer, reasoning and a failure. */
async function fill({ gateway, manage }: ConsoleUnderTest): Promise<Made> {
  const workspace = await manage.data(201, 'POST', '/workspaces', {
    name: MARKUP,
    slug: 'with-markup',
    is_observability_io_logging_enabled: true,
  });
  const { body } = await manage.ask('POST', '/keys', { name: MARKUP, workspace_id: workspace.id, limit: 5 });
  const guardrail = await manage.data(201, 'POST', '/guardrails', { name: MARKUP });
  await manage.data(201, 'POST', '/byok', {
    provider: 'openai',
    key: 'credential-of-the-tests',
    name: MARKUP,
  });
  const file = new FormData();
  file.set('file', new Blob(['Hello']), MARKUP);
  await gateway.fetch('/files', { method: 'POST', body: file });
  await gateway.fetch('/sessions', { method: 'POST', headers: { 'user-agent': MARKUP } });
  const ids: string[] = [];
  for (const model of ['simulator/standard', 'simulator/reasoning', 'simulator/fail-500']) {
    ids.push(await ask(gateway, body.key, model));
  }
  for (const referer of ['javascript:window.injected=1', `https://app.example/${MARKUP}`]) {
    await ask(gateway, body.key, 'simulator/standard', referer);
  }
  return { workspaceId: workspace.id, guardrailId: guardrail.id, generationId: ids[0] ?? '' };
}

async function ask(
  gateway: TestGateway,
  key: string,
  model: string,
  referer = 'https://app.example/',
): Promise<string> {
  const answered = await gateway.fetch('/responses', {
    method: 'POST',
    key,
    body: JSON.stringify({ model, input: PROMPT, user: MARKUP, session_id: MARKUP }),
    headers: {
      'content-type': 'application/json',
      'http-referer': referer,
      'x-title': MARKUP,
    },
  });
  await answered.text();
  return answered.headers.get('x-generation-id') ?? '';
}
