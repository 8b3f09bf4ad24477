import { cpSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openTestGateway } from '../../../kit/gateway-harness.ts';
import { openPage } from '../browser.ts';
import { type ConsoleUnderTest, signedInReader } from '../console-under-test.ts';

export function restartSuite(under: () => ConsoleUnderTest): void {
  describe('a gateway that restarts', () => {
    it('is survived by the session and by what was typed', async () => {
      const first = await openTestGateway();
      const reader = await signedInReader(under().browser, first, first.managementKey);
      const { page } = await openPage(reader);
      await page.goto('/playground');
      await page.getByRole('button', { name: 'Key that pays' }).waitFor();
      await page.getByLabel('System').fill('Be brief.');
      await page.getByLabel('Message').fill('Are you there?');
      await first.drain(0);
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByText('The gateway does not answer.').waitFor();
      // Said in the view too: phones have no navigation.
      await page.setViewportSize({ width: 390, height: 844 });
      const lost = page.getByText('The gateway has not answered since');
      await lost.waitFor();
      expect(await page.locator('.nav-foot').textContent()).toContain('Does not answer');
      const second = await openTestGateway(
        {},
        {
          port: Number(new URL(first.origin).port),
          prepare: async (dataDir) => cpSync(first.dataDir, dataDir, { recursive: true }),
        },
      );
      await page.getByRole('button', { name: 'Try again' }).first().click();
      await page.getByText('simulated answer').waitFor();
      await lost.waitFor({ state: 'detached' });
      expect(await page.getByLabel('System').inputValue()).toBe('Be brief.');
      await reader.close();
      await second.close();
      rmSync(first.dataDir, { recursive: true, force: true });
    });
  });
}
