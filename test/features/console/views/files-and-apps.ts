import { beforeAll, describe, expect, it } from 'vitest';
import type { TestGateway } from '../../../kit/gateway-harness.ts';
import type { ConsoleUnderTest } from '../console-under-test.ts';

export function filesAndAppsSuite(under: () => ConsoleUnderTest): void {
  describe('files and apps in the console', () => {
    let gateway: TestGateway;
    beforeAll(() => {
      ({ gateway } = under());
    });

    const opened = (address: string) => under().opened(address);

    it('uploads files, shows a refusal beside its file, and deletes one', async () => {
      const { page, close, problems } = await opened('/files');
      await page.getByText('No files here yet').waitFor();
      await page.getByLabel('Files to upload').setInputFiles([
        { name: '<b>notes.md', mimeType: 'text/markdown', buffer: Buffer.from('# Notes\n\nText.\n') },
        { name: 'program.bin', mimeType: 'application/pdf', buffer: Buffer.from([0, 1, 2, 255, 254]) },
      ]);
      await page.getByRole('row', { name: /<b>notes\.md.*text\/markdown/ }).waitFor();
      const uploads = page.getByRole('list', { name: 'Uploads' });
      await uploads.getByRole('alert').waitFor();
      expect(await uploads.getByRole('listitem').count()).toBe(1);
      await uploads.getByRole('button', { name: 'Leave it out' }).click();
      await uploads.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Actions for <b>notes.md' }).click();
      // The content of uploads is not given out.
      expect(await page.getByRole('button', { name: 'Download' }).count()).toBe(0);
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByRole('button', { name: 'Delete file' }).click();
      await page.getByText('No files here yet').waitFor();
      const listed = (await (await gateway.fetch('/files')).json()) as { data: unknown[] };
      expect(listed.data).toEqual([]);
      expect(problems).toEqual([]);
      await close();
    });

    it('ranks apps and models by their tokens', async () => {
      const { page, close, problems } = await opened('/apps');
      await page.getByText('No app was seen in these days').waitFor();
      for (const [app, requests] of [
        ['shop', 1],
        ['desk', 2],
      ] as const) {
        for (let request = 0; request < requests; request++) {
          const response = await gateway.post(
            '/chat/completions',
            { model: 'simulator/standard', messages: [{ role: 'user', content: 'Hello' }] },
            { 'http-referer': `https://${app}.example`, 'x-title': `The ${app}` },
          );
          await response.json();
        }
      }
      await expect
        .poll(
          async () => {
            await page.reload();
            await page.getByRole('heading', { name: 'Apps' }).waitFor();
            return page
              .getByRole('row', { name: /^2 The shop/ })
              .waitFor({ timeout: 1_000 })
              .then(() => true)
              .catch(() => false);
          },
          { timeout: 30_000, interval: 1_000 },
        )
        .toBe(true);
      await page.getByRole('row', { name: /^1 The desk 2 / }).waitFor();
      await page.getByRole('button', { name: 'Models' }).click();
      await page.getByRole('row', { name: /simulator\/standard.*100 %/ }).waitFor();
      await page.getByLabel('Days').selectOption('7');
      await page.getByRole('row', { name: /simulator\/standard/ }).waitFor();
      expect(new URL(page.url()).search).toBe('?of=models&days=7');
      expect(problems).toEqual([]);
      await close();
    });
  });
}
