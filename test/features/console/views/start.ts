import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestGateway } from '../../../kit/gateway-harness.ts';
import type { ConsolePage } from '../browser.ts';
import type { ConsoleUnderTest } from '../console-under-test.ts';

export function startSuite(under: () => ConsoleUnderTest): void {
  describe('the first run', () => {
    let gateway: TestGateway;
    let opened: ConsolePage;
    beforeAll(async () => {
      ({ gateway } = under());
      opened = await under().opened('/');
    });
    afterAll(() => opened.close());

    it('leads to the first answer of the simulator, and then waits for a client', async () => {
      const { page, problems } = opened;
      await page.waitForURL('/start');
      await page.getByRole('link', { name: 'Overview' }).first().click();
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      await page.getByRole('link', { name: 'Start' }).click();
      await page.getByRole('heading', { name: 'Ask the simulator' }).waitFor();
      expect(await page.getByText('ANTHROPIC_API_KEY', { exact: true }).count()).toBe(1);
      await page.getByRole('button', { name: 'Send it from here' }).click();
      await page.getByText('This is a simulated answer').waitFor();
      const link = await page.getByRole('link', { name: 'See it in the log' }).getAttribute('href');
      expect(link).toMatch(/^\/log#gen-/);
      await page.getByRole('heading', { name: 'Ask the simulator done' }).waitFor();
      // Requests of the console are none of a client.
      await page.getByText('Waiting for its first request.').waitFor();
      await gateway.post('/responses', { model: 'simulator/standard', input: 'Hello' });
      await page.getByText('A client has asked.').waitFor();
      await page.getByRole('heading', { name: 'Point your client here done' }).waitFor();
      expect(await page.getByRole('heading', { name: 'Add a provider done' }).count()).toBe(0);
      expect(problems).toEqual([]);
    });

    it('is no longer offered once it was skipped', async () => {
      const { page } = opened;
      await page.goto('/start');
      await page.getByRole('button', { name: 'Skip, show the overview' }).click();
      await page.waitForURL('/');
      await page.goto('/sessions');
      await page.getByText('this browser').waitFor();
      expect(await page.getByRole('link', { name: 'Start' }).count()).toBe(0);
    });
  });
}
