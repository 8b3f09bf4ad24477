import { beforeAll, describe, expect, it } from 'vitest';
import type { Management } from '../../../kit/management.ts';
import type { ConsoleUnderTest } from '../console-under-test.ts';

const SECRET = 'sk-of-the-provider-1234';

export function accessSuite(under: () => ConsoleUnderTest): void {
  describe('workspaces and own credentials in the console', () => {
    let data: Management['data'];
    beforeAll(() => {
      ({ data } = under().manage);
    });

    const opened = (address: string) => under().opened(address);

    it('makes a workspace, sets its budgets in an order that the gateway takes, and deletes it', async () => {
      const { page, close, problems } = await opened('/workspaces');
      await page.getByRole('table', { name: 'Workspaces' }).waitFor();
      await page.keyboard.press('c');
      const create = page.getByRole('dialog', { name: 'Create a workspace' });
      await create.getByLabel('Name').fill('Research team');
      expect(await create.getByLabel('Slug').inputValue()).toBe('research-team');
      await create.getByLabel('Store prompts and outputs').check();
      await create.getByText('100 % of later requests are stored').waitFor();
      await create.getByRole('button', { name: 'Create workspace' }).click();
      await page.getByRole('button', { name: /^Research team/ }).click();
      const dialog = page.getByRole('dialog', { name: 'Budgets of Research team' });
      await dialog.getByText('Whichever is used up first stops it.').waitFor();
      await dialog.getByLabel('A day', { exact: true }).fill('50');
      await dialog.getByLabel('A month', { exact: true }).fill('20');
      await dialog.getByRole('button', { name: 'Save budgets' }).click();
      await dialog.getByText('Must be more than the budget of a day.').waitFor();
      await dialog.getByLabel('A month', { exact: true }).fill('400');
      await dialog.getByRole('button', { name: 'Save budgets' }).click();
      await page.getByRole('row', { name: /Research team.*\$50\.00/ }).waitFor();
      await page.getByRole('button', { name: /^Research team/ }).click();
      // Both are raised above the other's old value.
      await dialog.getByLabel('A day', { exact: true }).fill('500');
      await dialog.getByLabel('A month', { exact: true }).fill('4,000');
      await dialog.getByLabel('Count own provider keys').check();
      await dialog.getByRole('button', { name: 'Save budgets' }).click();
      await page.getByRole('row', { name: /Research team.*\$500\.00/ }).waitFor();
      const made = await data(200, 'GET', '/workspaces/research-team');
      expect(made).toMatchObject({
        include_byok_in_budgets: true,
        is_observability_io_logging_enabled: true,
      });
      const budgets = await data(200, 'GET', '/workspaces/research-team/budgets');
      expect(budgets.map(({ limit_usd }: { limit_usd: number }) => limit_usd)).toEqual([500, 4000]);
      await page.getByRole('button', { name: 'Actions for Research team' }).click();
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      const confirm = page.getByRole('dialog', { name: 'Delete Research team?' });
      await confirm.getByLabel('Type Research team to go on').fill('Research team');
      await confirm.getByRole('button', { name: 'Delete workspace' }).click();
      await page.getByRole('row', { name: /Research team/ }).waitFor({ state: 'detached' });
      expect(problems).toEqual([]);
      await close();
    });

    it('says that a workspace with active keys cannot be deleted', async () => {
      const { id } = await data(201, 'POST', '/workspaces', { name: 'Busy', slug: 'busy' });
      await data(201, 'POST', '/keys', { name: 'active', workspace_id: id });
      const { page, close } = await opened('/workspaces');
      await page.getByRole('button', { name: 'Actions for Busy' }).click();
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      const confirm = page.getByRole('dialog', { name: 'Delete Busy?' });
      await confirm.getByText('1 active key: the gateway refuses').waitFor();
      await confirm.getByLabel('Type Busy to go on').fill('Busy');
      await confirm.getByRole('button', { name: 'Delete workspace' }).click();
      await confirm.getByRole('alert').waitFor();
      await data(200, 'GET', `/workspaces/${id}`);
      await close();
    });

    it('adds a member, disables them with their keys, with Undo, and removes them', async () => {
      const { page, close, problems } = await opened('/members');
      await page.getByText('No members yet').waitFor();
      await page.keyboard.press('c');
      const dialog = page.getByRole('dialog', { name: 'Add a member' });
      await dialog.getByRole('button', { name: 'Add member' }).click();
      await dialog.getByText('An address such as jane@example.com.').waitFor();
      await dialog.getByLabel('Address').fill('Jane@Example.com');
      await dialog.getByLabel('First name').fill('Jane');
      await dialog.getByLabel('Role in the account').selectOption('org:admin');
      await dialog.getByRole('button', { name: 'Add member' }).click();
      await page.getByRole('row', { name: /Jane.*Admin/ }).waitFor();
      const [jane] = await data(200, 'GET', '/organization/members');
      expect(jane).toMatchObject({ email: 'jane@example.com', role: 'org:admin' });
      const made = await under().manage.ask('POST', '/keys', { name: 'hers', creator_user_id: jane.id });
      const statusOfKey = async () =>
        (await under().manage.ask('GET', '/key', undefined, made.body.key)).status;
      const act = async (name: string) => {
        await page.getByRole('button', { name: 'Actions for Jane' }).click();
        await page.getByRole('button', { name, exact: true }).click();
      };
      await act('Disable');
      await page.locator('td .tag', { hasText: 'disabled' }).waitFor();
      expect(await statusOfKey()).toBe(401);
      await page.locator('.toast', { hasText: 'is disabled' }).getByRole('button', { name: 'Undo' }).click();
      await page.locator('td .tag').waitFor({ state: 'detached' });
      expect(await statusOfKey()).toBe(200);
      await page.getByRole('button', { name: /^Jane/ }).click();
      const edit = page.getByRole('dialog', { name: 'Jane' });
      await edit.getByLabel('Last name').fill('Doe');
      await edit.getByRole('button', { name: 'Save changes' }).click();
      await page.getByRole('row', { name: /Jane Doe/ }).waitFor();
      await page.getByRole('button', { name: 'Actions for Jane Doe' }).click();
      await page.getByRole('button', { name: 'Remove', exact: true }).click();
      const confirm = page.getByRole('dialog', { name: 'Remove Jane Doe?' });
      await confirm.getByRole('textbox').fill('jane@example.com');
      await confirm.getByRole('button', { name: 'Remove member' }).click();
      await page.getByText('No members yet').waitFor();
      expect(await statusOfKey()).toBe(401);
      expect(problems).toEqual([]);
      await close();
    });

    it('stores a credential without showing its secret, disables it with Undo, and deletes it', async () => {
      const { page, close, problems } = await opened('/credentials');
      await page.getByText('No credentials of your own yet').waitFor();
      await page.keyboard.press('c');
      const dialog = page.getByRole('dialog', { name: 'Add a credential' });
      await dialog.getByLabel('Provider').fill('nobody');
      await dialog.getByLabel('Secret').fill(SECRET);
      await dialog.getByRole('button', { name: 'Add credential' }).click();
      await dialog.getByText('"nobody" is not a provider').waitFor();
      await dialog.getByLabel('Provider').fill('openai');
      await dialog.getByLabel('Used').selectOption('only');
      await dialog.getByText('No endpoint with the gateway’s own key').waitFor();
      await dialog.getByRole('button', { name: 'Add credential' }).click();
      await page.getByRole('row', { name: /openai.*Every workspace.*alone, for all models/ }).waitFor();
      expect(await page.content()).not.toContain(SECRET);
      const act = async (name: string) => {
        await page.getByRole('button', { name: /^Actions for openai/ }).click();
        await page.getByRole('button', { name, exact: true }).click();
      };
      await act('Disable');
      await page.locator('td .tag', { hasText: 'disabled' }).waitFor();
      await page.locator('.toast', { hasText: 'is disabled' }).getByRole('button', { name: 'Undo' }).click();
      await page.locator('td .tag').waitFor({ state: 'detached' });
      const [stored] = await data(200, 'GET', '/byok?all_workspaces=true');
      expect(stored).toMatchObject({ provider: 'openai', is_byok_only: true, workspace_id: null });
      await act('Delete');
      const confirm = page.getByRole('dialog', { name: 'Delete the credential for openai?' });
      await confirm.getByRole('textbox').fill(stored.label);
      await confirm.getByRole('button', { name: 'Delete credential' }).click();
      await page.getByText('No credentials of your own yet').waitFor();
      expect(problems).toEqual([]);
      await close();
    });
  });
}
