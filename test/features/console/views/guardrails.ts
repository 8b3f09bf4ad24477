import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Management } from '../../../kit/management.ts';
import type { ConsoleUnderTest } from '../console-under-test.ts';

async function addKey(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Key: Add a key' }).click();
  await page.getByRole('combobox', { name: 'Search: Key' }).fill(name);
  await page.getByRole('option', { name: new RegExp(name) }).click();
}

export function guardrailsSuite(under: () => ConsoleUnderTest): void {
  describe('guardrails in the console', () => {
    let manage: Management;
    beforeAll(async () => {
      ({ manage } = under());
      await manage.ask('POST', '/keys', { name: 'support-bot' });
    });

    const opened = (address: string) => under().opened(address);

    it('makes a guardrail, edits its rules, saves what changed, and assigns it', async () => {
      const { page, close, problems } = await opened('/guardrails');
      await page.getByText('No guardrails yet').waitFor();
      await page.getByRole('button', { name: 'Create guardrail' }).first().click();
      const dialog = page.getByRole('dialog', { name: 'Create a guardrail' });
      await dialog.getByLabel('Name').fill('pii');
      await dialog.getByRole('button', { name: 'Create guardrail' }).click();
      await page.waitForURL(/\/guardrails\/[0-9a-f-]{36}$/);
      const id = page.url().split('/').at(-1) ?? '';
      await page
        .getByRole('group', { name: 'Email address' })
        .getByRole('button', { name: 'Redact' })
        .click();
      await page.getByRole('button', { name: 'Own pattern' }).click();
      await page.getByRole('button', { name: /^Save/ }).click();
      await page.getByText('Write a pattern, or remove the row.').waitFor();
      await page.getByLabel('Pattern', { exact: true }).fill('PROJ-[0-9]+');
      await page.getByLabel('Label', { exact: true }).fill('TICKET');
      await page.getByRole('button', { name: 'Not these models: None left out' }).click();
      await page.getByRole('combobox', { name: 'Search: Not these models' }).fill('refuse');
      await page.getByRole('option', { name: /simulator\/refuse/ }).click();
      await page.getByLabel('Google', { exact: true }).selectOption('yes');
      await page.getByLabel('Paid endpoints that train on prompts').selectOption('no');
      await page.getByLabel('Europe').check();
      await page.getByLabel('Limit', { exact: true }).fill('25');
      await page.getByText('7 unsaved changes').waitFor();
      await page.keyboard.press('Control+s');
      await page.getByText('pii was saved').waitFor();
      await page.getByText('unsaved').first().waitFor({ state: 'detached' });
      expect(await manage.data(200, 'GET', `/guardrails/${id}`)).toMatchObject({
        name: 'pii',
        limit_usd: 25,
        ignored_models: ['simulator/refuse'],
        content_filter_builtins: [{ slug: 'email', action: 'redact' }],
        content_filters: [{ pattern: 'PROJ-[0-9]+', action: 'redact', label: 'TICKET' }],
      });
      await addKey(page, 'support-bot');
      await page.getByRole('button', { name: 'Remove key support-bot' }).waitFor();
      expect(await manage.data(200, 'GET', `/guardrails/${id}/assignments/keys`)).toHaveLength(1);
      await page.getByRole('button', { name: 'Remove key support-bot' }).click();
      await page.getByText('No key and no member has it').waitFor();
      expect(problems).toEqual([]);
      await close();
    });

    it('is given to a member who is chosen by name', async () => {
      const member = { email: 'ada@example.com', first_name: 'Ada', last_name: 'Byron' };
      const { id: userId } = await manage.data(201, 'POST', '/organization/members', member);
      const { id } = await manage.data(201, 'POST', '/guardrails', { name: 'For Ada' });
      const { page, close, problems } = await opened(`/guardrails/${id}`);
      await page.getByRole('button', { name: 'Member: Add a member' }).click();
      await page.getByRole('option', { name: /Ada Byron/ }).click();
      await page.getByRole('button', { name: 'Remove member Ada Byron' }).waitFor();
      expect(await manage.data(200, 'GET', `/guardrails/${id}/assignments/members`)).toMatchObject([
        { user_id: userId },
      ]);
      expect(problems).toEqual([]);
      await close();
      await manage.ask('DELETE', `/organization/members/${userId}`);
    });

    it('says of the guardrail of a workspace that it holds for all keys there', async () => {
      const workspace = await manage.data(201, 'POST', '/workspaces', { name: 'Ruled', slug: 'ruled' });
      const { default_guardrail_id: id } = workspace;
      await manage.data(200, 'PATCH', `/guardrails/${id}`, { name: 'House rules' });
      const { page, close, problems } = await opened(`/guardrails/${id}`);
      await page.getByText('Its rules hold for all keys of Ruled.').waitFor();
      expect(problems).toEqual([]);
      await close();
    });

    it('says of the guardrail of the account, opened by its id, that it holds for all keys', async () => {
      const { id } = await manage.data(200, 'PATCH', '/guardrails/default', { description: 'For all' });
      const { page, close, problems } = await opened(`/guardrails/${id}`);
      await page.getByText('Its rules hold for all keys of the account.').waitFor();
      expect(problems).toEqual([]);
      await close();
      await manage.ask('DELETE', `/guardrails/${id}`);
    });

    it('lists those of all workspaces, with what each applies to', async () => {
      const lab = await manage.data(201, 'POST', '/workspaces', { name: 'Guarded lab', slug: 'guarded-lab' });
      const made = { name: 'Lab rules', workspace_id: lab.id };
      const { id } = await manage.data(201, 'POST', '/guardrails', made);
      const { hash } = await manage.data(201, 'POST', '/keys', { name: 'lab key' });
      await manage.ask('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [hash] });
      await manage.data(200, 'PATCH', `/guardrails/${lab.default_guardrail_id}`, { name: 'Of the lab' });
      const { page, close, problems } = await opened('/guardrails');
      await page.getByRole('row', { name: /Lab rules.*1 key/ }).waitFor();
      await page.getByRole('row', { name: /Of the lab.*all keys of Guarded lab/ }).waitFor();
      await page.getByLabel('Workspace', { exact: true }).selectOption({ label: 'Guarded lab' });
      await page.waitForURL(/workspace=/);
      await page.getByRole('row', { name: /Lab rules.*1 key/ }).waitFor();
      expect(problems).toEqual([]);
      await close();
    });

    it('asks before a key loses the guardrail that it has', async () => {
      const [before, after] = [
        await manage.data(201, 'POST', '/guardrails', { name: 'Cards blocked' }),
        await manage.data(201, 'POST', '/guardrails', { name: 'Invoices' }),
      ];
      const { hash } = await manage.data(201, 'POST', '/keys', { name: 'accounting' });
      await manage.ask('POST', `/guardrails/${before.id}/assignments/keys`, { key_hashes: [hash] });
      const { page, close, problems } = await opened(`/guardrails/${after.id}`);
      await addKey(page, 'accounting');
      const confirm = page.getByRole('dialog', { name: 'Replace the guardrail of accounting?' });
      await confirm.getByText('It has Cards blocked.').waitFor();
      await confirm.getByRole('button', { name: 'Keep Cards blocked' }).click();
      const keysOf = (id: string) => manage.data(200, 'GET', `/guardrails/${id}/assignments/keys`);
      expect(await keysOf(before.id)).toHaveLength(1);
      await addKey(page, 'accounting');
      await confirm.getByRole('button', { name: 'Replace guardrail' }).click();
      await page.getByRole('button', { name: 'Remove key accounting' }).waitFor();
      expect(await keysOf(before.id)).toEqual([]);
      expect(problems).toEqual([]);
      await close();
    });

    it('marks the pattern that the gateway refuses, scrolls to it, and keeps what was typed', async () => {
      const { id } = await manage.data(201, 'POST', '/guardrails', { name: 'refused' });
      const { page, close } = await opened(`/guardrails/${id}`);
      await page.getByRole('button', { name: 'Own pattern' }).click();
      await page.getByLabel('Pattern', { exact: true }).fill('(?<=token=)[a-z]+');
      await page.getByRole('button', { name: /^Save/ }).click();
      const refused = page.getByRole('row').filter({ has: page.getByLabel('Pattern', { exact: true }) });
      await refused.getByText(/^The pattern /).waitFor();
      const pattern = page.getByLabel('Pattern', { exact: true });
      expect(await pattern.getAttribute('aria-invalid')).toBe('true');
      expect(await pattern.inputValue()).toBe('(?<=token=)[a-z]+');
      await page.locator('input[aria-label="Pattern"]:focus').waitFor();
      const place = await pattern.boundingBox();
      expect(place?.y).toBeGreaterThan(0);
      expect(place?.y).toBeLessThan(page.viewportSize()?.height ?? 0);
      await pattern.fill('token=[a-z]+');
      await refused.getByText(/^The pattern /).waitFor({ state: 'detached' });
      await close();
    });

    it('marks what is found while one types, with few requests', async () => {
      const { id } = await manage.data(201, 'POST', '/guardrails', {
        name: 'try me',
        content_filter_builtins: [
          { slug: 'email', action: 'redact' },
          { slug: 'regex-prompt-injection', action: 'block' },
        ],
      });
      const { page, close, problems } = await opened(`/guardrails/${id}`);
      await page.getByText('Blocked.').waitFor();
      let trials = 0;
      page.on('request', (request) => {
        if (request.url().endsWith('/test')) trials++;
      });
      const text = page.getByLabel('Text to try');
      await text.fill('');
      await text.pressSequentially('mail dana@example.com <b>now</b>', { delay: 5 });
      await page.getByText('Redacted.').waitFor();
      await page.locator('.tryt mark.m-w', { hasText: 'dana@example.com' }).waitFor();
      await page.getByText('mail [EMAIL] <b>now</b>').waitFor();
      // What is in the form counts before it is saved.
      await page.getByRole('group', { name: 'Email address' }).getByRole('button', { name: 'Block' }).click();
      await page.getByText('with the unsaved changes').waitFor();
      await page.getByText('Blocked.').waitFor();
      expect((await manage.data(200, 'GET', `/guardrails/${id}`)).content_filter_builtins[0].action).toBe(
        'redact',
      );
      expect(trials).toBeLessThan(16);
      expect(problems).toEqual([]);
      await close();
    });

    it('deletes a guardrail after its name was typed', async () => {
      const { id } = await manage.data(201, 'POST', '/guardrails', { name: 'old one' });
      const { page, close, problems } = await opened('/guardrails');
      await page.getByRole('button', { name: 'Actions for old one' }).click();
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      const dialog = page.getByRole('dialog', { name: 'Delete old one?' });
      await dialog.getByRole('textbox').fill('old one');
      await dialog.getByRole('button', { name: 'Delete guardrail' }).click();
      await page.getByText('old one was deleted').waitFor();
      expect((await manage.ask('GET', `/guardrails/${id}`)).status).toBe(404);
      expect(problems).toEqual([]);
      await close();
    });
  });
}
