import { cpSync, rmSync } from 'node:fs';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashSecret } from '../../../../src/manage/keys/hash-secret.ts';
import { openTestGateway, type TestGateway } from '../../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../../kit/management.ts';
import { type ConsolePage, openPage } from '../browser.ts';
import { type ConsoleUnderTest, signedInReader } from '../console-under-test.ts';

/** Longer than any view waits before it asks again, milliseconds. */
const ASKED_AGAIN_MS = 20_000;

/** What is typed into views before the gateway goes away: where, and into which fields. */
const TYPED: Readonly<Record<string, readonly (readonly [label: string, text: string])[]>> = {
  '/keys#create': [['Name', 'half a key']],
  '/workspaces#create': [['Name', 'half a workspace']],
  '/credentials#create': [
    ['Name', 'half a credential'],
    ['Secret', 'half-a-secret-of-a-provider'],
  ],
  '/playground': [
    ['System', 'Be brief.'],
    ['Message', 'Half a question'],
  ],
};

/** One page for each view, all of one reader. */
export function faultsSuite(under: () => ConsoleUnderTest): void {
  describe('every view, open at once', () => {
    let gateway: TestGateway;
    let manage: Management;
    let reader: BrowserContext;
    let opened: Map<string, ConsolePage>;
    let keyHash: string;
    const retired: string[] = [];

    beforeAll(async () => {
      gateway = await openTestGateway();
      manage = managementOf(gateway);
      const { key } = await manage.command('keys.create', { name: 'to be revoked', management: true });
      keyHash = hashSecret(key);
      reader = await signedInReader(under().browser, gateway, key);
      await reader.clock.install();
      opened = await openAll(reader);
    }, 120_000);
    afterAll(async () => {
      await reader.close();
      await gateway.close();
      for (const dataDir of retired) rmSync(dataDir, { recursive: true, force: true });
    });

    it('says that the gateway is away, recovers by itself, and keeps what was typed', async () => {
      for (const [address, fields] of Object.entries(TYPED)) {
        for (const [label, text] of fields) await fieldOf(pageAt(opened, address), label).fill(text);
      }
      await gateway.drain(0);
      await reader.clock.fastForward(ASKED_AGAIN_MS);
      await inAll(opened, async (page) => {
        await page.getByText('The gateway has not answered since').waitFor();
      });
      retired.push(gateway.dataDir);
      gateway = await openTestGateway(
        {},
        {
          port: Number(new URL(gateway.origin).port),
          prepare: async (dataDir) => cpSync(gateway.dataDir, dataDir, { recursive: true }),
        },
      );
      manage = managementOf(gateway);
      await reader.clock.fastForward(ASKED_AGAIN_MS);
      await inAll(opened, async (page) => {
        await page.getByText('The gateway has not answered since').waitFor({ state: 'detached' });
        await page.locator('main .note.bad, .sk-rows').first().waitFor({ state: 'detached' });
      });
      for (const [address, fields] of Object.entries(TYPED)) {
        const page = pageAt(opened, address);
        for (const [label, text] of fields) {
          expect([address, await fieldOf(page, label).inputValue()]).toEqual([address, text]);
        }
      }
      const page = pageAt(opened, '/keys#create');
      await page.getByRole('button', { name: 'Create key' }).last().click();
      await page.getByText('I have stored it').waitFor();
      expect(
        [...opened].flatMap(([address, { problems }]) => problems.map((each) => [address, each])),
      ).toEqual([]);
    }, 120_000);

    it('asks for another sign-in in place when the key is revoked, and keeps what was typed', async () => {
      // The first dialog has become the one with the secret of the new key.
      const typed = Object.entries(TYPED).slice(1);
      await manage.command('keys.revoke', { hash: keyHash });
      await reader.clock.fastForward(ASKED_AGAIN_MS);
      await inAll(opened, async (page) => {
        await page.getByRole('dialog', { name: 'Sign in again' }).waitFor();
        expect(await page.locator(':is(main, form):not(.si *):visible').count()).toBe(0);
      });
      const asked: string[] = [];
      reader.on('request', (request) => asked.push(request.url()));
      await reader.clock.fastForward(ASKED_AGAIN_MS);
      expect(asked).toEqual([]);
      const other = pageAt(opened, '/workspaces#create');
      await signInAgain(other, gateway.apiKey);
      await other.getByRole('heading', { name: 'No such view' }).waitFor();
      expect(await other.locator('body').textContent()).not.toContain('half a workspace');
      opened.delete('/workspaces#create');
      await inAll(opened, (page) => signInAgain(page, gateway.managementKey));
      await inAll(opened, async (page) => {
        await page.locator(':is(main#main, dialog form):visible').first().waitFor();
      });
      for (const [address, fields] of typed) {
        if (!opened.has(address)) continue;
        const page = pageAt(opened, address);
        for (const [label, text] of fields) {
          expect([address, await fieldOf(page, label).inputValue()]).toEqual([address, text]);
          expect(await page.evaluate<string>(STORED)).not.toContain(text);
        }
      }
      await pageAt(opened, '/keys#create').getByText('I have stored it').waitFor();
    }, 120_000);
  });
}

/** All that the page has in the browser's storage, as a text. */
const STORED = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])';

async function signInAgain(page: Page, key: string): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Sign in again' });
  await dialog.getByLabel('Key', { exact: true }).fill(key);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await dialog.waitFor({ state: 'detached' });
}

/** Opens all views of the navigation, and those in which something is typed. */
async function openAll(reader: BrowserContext): Promise<Map<string, ConsolePage>> {
  const first = await openPage(reader);
  await first.page.goto('/more');
  await first.page.locator('nav.nav li a').first().waitFor();
  const addresses = await first.page
    .locator('nav.nav li a')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
  await first.close();
  const opened = new Map<string, ConsolePage>();
  await Promise.all(
    [...new Set([...addresses, ...Object.keys(TYPED)])].map(async (address) => {
      const view = await openPage(reader);
      opened.set(address, view);
      await view.page.goto(address);
      await view.page.locator('main#main, dialog form').first().waitFor();
    }),
  );
  return opened;
}

function pageAt(opened: ReadonlyMap<string, ConsolePage>, address: string): Page {
  const found = opened.get(address);
  if (found === undefined) throw new Error(`${address} is not open`);
  return found.page;
}

function fieldOf(page: Page, label: string) {
  return page.getByLabel(label, { exact: true }).first();
}

/** Does the same in all pages at once. A failure names the views that it happened in. */
async function inAll(
  opened: ReadonlyMap<string, ConsolePage>,
  act: (page: Page) => Promise<void>,
): Promise<void> {
  const failed = await Promise.all(
    [...opened].map(async ([address, { page }]) => {
      try {
        await act(page);
        return [];
      } catch (error) {
        return [`${address}: ${error instanceof Error ? error.message.split('\n')[0] : error}`];
      }
    }),
  );
  expect(failed.flat()).toEqual([]);
}
