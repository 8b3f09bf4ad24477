import type { BrowserContext } from 'playwright-core';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestGateway } from '../../../kit/gateway-harness.ts';
import { openPage, signInAt } from '../browser.ts';
import { openReader } from '../chromium.ts';
import type { ConsoleUnderTest } from '../console-under-test.ts';

export function signInSuite(under: () => ConsoleUnderTest): void {
  describe('signing in to the console', () => {
    let gateway: TestGateway;
    let reader: BrowserContext;
    beforeAll(() => {
      ({ gateway } = under());
    });
    beforeEach(async () => {
      reader = await openReader(under().browser, gateway.origin);
    });
    afterEach(() => reader.close());

    it('exchanges a management key for a session, and keeps no key in the browser', async () => {
      const opened = await openPage(reader);
      await signInAt(opened, '/sessions', gateway.managementKey);
      const { page, problems } = opened;
      await page.getByText('this browser').waitFor();
      expect(page.url()).toBe(`${gateway.origin}/sessions`);
      const stored = await page.evaluate<string>(
        'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
      );
      expect(stored).toBe('[{},{},""]');
      const [cookie] = await reader.cookies();
      expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
      expect(cookie?.value).not.toContain(gateway.managementKey);
      expect(problems).toEqual([]);
    });

    it.each(['/', '/log', '/keys'])(
      'asks for nothing that is refused before anyone has signed in: %s',
      async (path) => {
        const { page, problems, refusals } = await openPage(reader);
        await page.goto(path);
        await page.getByRole('heading', { name: 'Sign in' }).waitFor();
        await page.waitForLoadState('networkidle');
        expect([problems, refusals]).toEqual([[], []]);
      },
    );

    it('says that a key is unknown, and keeps the view that was asked for', async () => {
      const { page, problems } = await openPage(reader);
      await page.goto('/sessions');
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await page.keyboard.type('sk-sb-v1-of-another-gateway');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('No such key here.').waitFor();
      await page.getByLabel('Key', { exact: true }).fill(gateway.apiKey);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Signed-in browsers' }).waitFor();
      expect(problems).toEqual([]);
    });

    it('leads back to the sign-in, with the reason, when the key is revoked', async () => {
      const created = await gateway.fetch('/keys', {
        method: 'POST',
        key: gateway.managementKey,
        body: JSON.stringify({ name: 'short-lived' }),
        headers: { 'content-type': 'application/json' },
      });
      const { key, data } = (await created.json()) as { key: string; data: { hash: string } };
      const opened = await openPage(reader);
      await signInAt(opened, '/sessions', key);
      await opened.page.getByText('this browser').waitFor();
      await gateway.fetch(`/keys/${data.hash}`, { method: 'DELETE', key: gateway.managementKey });
      await opened.page.getByRole('button', { name: 'End' }).click();
      await opened.page.getByRole('button', { name: 'End session' }).click();
      await opened.page.getByRole('dialog', { name: 'Sign in again' }).waitFor();
    });

    it('says so if the gateway did not end the session, and does not pretend that it has', async () => {
      const opened = await openPage(reader);
      await signInAt(opened, '/sessions', gateway.managementKey);
      const { page } = opened;
      await page.route(/\/v1\/sessions\/current/, (route) => route.abort());
      await page.getByRole('button', { name: 'Sign out' }).first().click();
      await page.getByText('You are still signed in').waitFor();
      await page.unrouteAll();
      await page.getByRole('button', { name: 'Sign out' }).first().click();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    });

    it('shows the next reader nothing that the one before has read', async () => {
      const opened = await openPage(reader);
      await signInAt(opened, '/sessions', gateway.managementKey);
      const { page } = opened;
      await page.getByText('this browser').waitFor();
      const before = await page.locator('main').textContent();
      expect(before).toContain('SIGNALBOX_MANAGEMENT_KEY');
      await page.getByRole('button', { name: 'End' }).first().click();
      await page.getByRole('button', { name: 'End session' }).waitFor();
      // As if the session had ended by itself: the page stays, and with it what it has read.
      await page.route(/\/v1\//, (route) =>
        route.fulfill({ status: 401, json: { error: { code: 401, message: 'The session has ended' } } }),
      );
      // Out of sight, if another question was answered first.
      await page.locator('dialog button', { hasText: 'End session' }).dispatchEvent('click');
      await page.getByText('The session has ended. Afterwards').waitFor();
      await page.unrouteAll();
      // The list of sessions does not come: whatever is shown was read before.
      await page.route(/\/v1\/sessions$/, (route) =>
        route.request().method() === 'GET' ? route.abort() : route.continue(),
      );
      await page.getByLabel('Key', { exact: true }).fill(gateway.apiKey);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Signed-in browsers' }).waitFor();
      expect(await page.locator('main').textContent()).not.toContain('SIGNALBOX_MANAGEMENT_KEY');
    });

    it('opens views by links that are broken, and none by links that lead elsewhere', async () => {
      const opened = await openPage(reader);
      await signInAt(opened, '/sessions#%', gateway.managementKey);
      const { page, problems } = opened;
      await page.getByText('this browser').waitFor();
      const elsewhere = await page.goto(`${gateway.origin}//evil.example/log`);
      expect(elsewhere?.status()).toBe(404);
      await page.getByRole('heading', { name: 'No such view' }).waitFor();
      const targets = await page
        .locator('a[href]')
        .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
      expect(targets.filter((target) => !/^(?:\/(?!\/)|#)/.test(target))).toEqual([]);
      expect(problems).toEqual([]);
    });

    it('ends the session when the reader signs out', async () => {
      const opened = await openPage(reader);
      await signInAt(opened, '/sessions', gateway.managementKey);
      const [cookie] = await reader.cookies();
      await opened.page.getByRole('button', { name: 'Sign out' }).first().click();
      await opened.page.getByRole('heading', { name: 'Sign in' }).waitFor();
      const reused = await fetch(`${gateway.url}/key`, {
        headers: { cookie: `${cookie?.name}=${cookie?.value}`, 'x-console-session': '1' },
      });
      expect(reused.status).toBe(401);
    });
  });
}
