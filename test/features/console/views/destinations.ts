import { beforeAll, describe, expect, it } from 'vitest';
import type { Management } from '../../../kit/management.ts';
import type { ConsoleUnderTest } from '../console-under-test.ts';

const SECRET = 'a-secret-of-the-collector';

export function destinationsSuite(under: () => ConsoleUnderTest): void {
  describe('destinations in the console', () => {
    let data: Management['data'];
    beforeAll(() => {
      ({ data } = under().manage);
    });

    it('adds one without showing its secret, with rules, and changes, disables and deletes it', async () => {
      const { page, close, problems } = await under().opened('/destinations');
      await page.getByText('No destinations yet').waitFor();
      await page.keyboard.press('c');
      const create = page.getByRole('dialog', { name: 'Add a destination' });
      await create.getByLabel('Receiver').selectOption('langfuse');
      await create.getByLabel('Public key').waitFor();
      await create.getByLabel('Receiver').selectOption('otel-collector');
      await create.getByLabel('Name', { exact: true }).fill('collector');
      await create.getByRole('button', { name: 'Add destination' }).click();
      await create.getByText('It is needed.').waitFor();
      await create.getByLabel('Endpoint').fill('https://user:pass@collector.example');
      await create.getByRole('button', { name: 'Add destination' }).click();
      await create.getByText('without user name, password').waitFor();
      await create.getByLabel('Endpoint').fill('https://collector.example');
      await create.getByLabel('Headers').fill(`x-key: ${SECRET}`);
      expect(await create.getByLabel('Have Default Workspace send').isChecked()).toBe(true);
      await create.getByLabel('Have Default Workspace send').uncheck();
      await create.getByText('Default Workspace sends nothing').waitFor();
      await create.getByLabel('Send no prompts and answers').check();
      await create.getByText('Prompts and answers stay here.').waitFor();
      await create.getByRole('button', { name: 'Add a rule' }).click();
      await create.getByLabel('Field').selectOption('total_cost');
      await create.getByLabel('Comparison').selectOption('gt');
      await create.getByLabel('Value').fill('0.01');
      await create.getByRole('button', { name: 'Add destination' }).click();
      const row = page.getByRole('row', { name: /collector.*OpenTelemetry.*not sent/ });
      await row.waitFor();
      expect(await page.content()).not.toContain(SECRET);
      const [made] = await data(200, 'GET', '/observability/destinations?all_workspaces=true');
      expect(made).toMatchObject({
        type: 'otel-collector',
        privacy_mode: true,
        filter_rules: {
          enabled: true,
          groups: [{ logic: 'and', rules: [{ field: 'total_cost', operator: 'gt', value: 0.01 }] }],
        },
      });
      await row.getByText('workspace is off').waitFor();
      await row.click();
      const edit = page.getByRole('dialog', { name: 'collector' });
      await edit.getByLabel('Have Default Workspace send').check();
      await edit.getByLabel('Share of sessions').fill('25');
      await edit.getByRole('button', { name: 'Save changes' }).click();
      await page.getByRole('cell', { name: '25 %' }).waitFor();
      const isSending = async () => {
        const workspaces = (await data(200, 'GET', '/workspaces')) as { slug: string }[];
        return workspaces.find(({ slug }) => slug === 'default');
      };
      expect(await isSending()).toMatchObject({ is_observability_broadcast_enabled: true });
      await row.getByText('workspace is off').waitFor({ state: 'detached' });
      const act = async (name: string) => {
        await page.getByRole('button', { name: 'Actions for collector' }).click();
        await page.getByRole('button', { name, exact: true }).click();
      };
      await act('Disable');
      await page.locator('td .tag', { hasText: 'disabled' }).waitFor();
      await act('Delete');
      const confirm = page.getByRole('dialog', { name: 'Delete collector?' });
      await confirm.getByRole('textbox').fill('collector');
      await confirm.getByRole('button', { name: 'Delete destination' }).click();
      await page.getByText('No destinations yet').waitFor();
      expect(problems).toEqual([]);
      await close();
    });
  });
}
