import { beforeAll, describe, expect, it } from 'vitest';
import type { TestGateway } from '../../../kit/gateway-harness.ts';
import type { Management } from '../../../kit/management.ts';
import { eventually } from '../browser.ts';
import type { ConsoleUnderTest } from '../console-under-test.ts';

const MARKUP = '<img src=x onerror="document.title=1">';

export function keysSuite(under: () => ConsoleUnderTest): void {
  describe('keys in the console', () => {
    let gateway: TestGateway;
    let data: Management['data'];
    beforeAll(() => {
      ({
        gateway,
        manage: { data },
      } = under());
    });

    const opened = (address: string) => under().opened(address);

    const keyNamed = async (name: string) =>
      (await data(200, 'GET', `/keys?include_disabled=true&all_workspaces=true&search=${name}`))[0];

    it('makes a key with what it means beside the form, and shows its secret until it is stored', async () => {
      const { page, close, problems } = await opened('/keys');
      await page.getByRole('table', { name: 'Keys' }).waitFor();
      await page.keyboard.press('c');
      const dialog = page.getByRole('dialog', { name: 'Create a key' });
      await dialog.getByRole('button', { name: 'Create key' }).click();
      await dialog.getByText('Give it a name').waitFor();
      expect(await page.evaluate<string>('document.activeElement.id')).toContain('name');
      await dialog.getByLabel('Name').fill('checkout');
      await dialog.getByLabel('Spending limit').fill('5,000');
      await dialog.getByText('It spends at most $5,000.00 in a calendar month (UTC).').waitFor();
      await dialog.getByLabel('Expires').fill('2020-01-01T09:00');
      await dialog.getByRole('button', { name: 'Create key' }).click();
      await dialog.getByText('That is over.').waitFor();
      await dialog.getByLabel('Expires').fill('');
      await dialog.getByRole('button', { name: 'Create key' }).click();
      const created = page.getByRole('dialog', { name: 'Key created: checkout' });
      const secret = (await created.locator('.secret code').textContent()) ?? '';
      expect(secret).toMatch(/^sk-/);
      await page.keyboard.press('Escape');
      expect(await created.getByRole('button', { name: 'Done' }).isDisabled()).toBe(true);
      await created.getByLabel('I have stored it').check();
      await created.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('row', { name: /checkout/ }).waitFor();
      expect(await page.content()).not.toContain(secret);
      expect(page.url()).toBe(`${gateway.origin}/keys`);
      expect((await gateway.fetch('/key', { key: secret })).status).toBe(200);
      expect(await keyNamed('checkout')).toMatchObject({ limit: 5000, limit_reset: 'monthly' });
      expect(problems).toEqual([]);
      await close();
    });

    it('shows a refusal of the gateway at its field', async () => {
      const { page, close } = await opened('/keys#create');
      const dialog = page.getByRole('dialog', { name: 'Create a key' });
      await dialog.getByLabel('Name').fill('dear');
      await dialog.getByLabel('Spending limit').fill('2,000,000,000');
      await dialog.getByRole('button', { name: 'Create key' }).click();
      await dialog.getByText('Must be <= 1000000000').waitFor();
      expect(await dialog.getByLabel('Spending limit').getAttribute('aria-invalid')).toBe('true');
      await close();
    });

    it('changes a limit, disables with Undo, and revokes after the name was typed', async () => {
      await data(201, 'POST', '/keys', { name: 'steered', limit: 5 });
      const { page, close, problems } = await opened('/keys?search=steered');
      await page.getByRole('button', { name: 'steered', exact: true }).click();
      const dialog = page.getByRole('dialog', { name: 'steered' });
      await dialog.getByLabel('Spending limit').fill('7.50');
      await dialog.getByRole('button', { name: 'Save changes' }).click();
      await page.getByText('of $7.50').waitFor();
      expect(await keyNamed('steered')).toMatchObject({ limit: 7.5, limit_reset: null });
      const act = async (name: string) => {
        await page.getByRole('button', { name: 'Actions for steered' }).click();
        await page.getByRole('button', { name, exact: true }).click();
      };
      await act('Disable');
      await page.locator('td .tag', { hasText: 'disabled' }).waitFor();
      await page.locator('.toast', { hasText: 'is disabled' }).getByRole('button', { name: 'Undo' }).click();
      await page.locator('td .tag').waitFor({ state: 'detached' });
      expect((await keyNamed('steered')).disabled).toBe(false);
      await act('Revoke');
      const confirm = page.getByRole('dialog', { name: 'Revoke steered?' });
      expect(await confirm.getByRole('button', { name: 'Revoke key' }).isDisabled()).toBe(true);
      await confirm.getByLabel('Type steered to go on').fill('steered');
      await confirm.getByRole('button', { name: 'Revoke key' }).click();
      await page.getByText('No key matches').waitFor();
      expect(await keyNamed('steered')).toBeUndefined();
      expect(problems).toEqual([]);
      await close();
    });

    it('gives a key models, rates and an expiry, shows its guardrails, and takes all back with Undo', async () => {
      const { hash } = await data(201, 'POST', '/keys', { name: 'narrowed' });
      const guardrail = await data(201, 'POST', '/guardrails', { name: 'Narrow rules' });
      await gateway.fetch(`/guardrails/${guardrail.id}/assignments/keys`, {
        method: 'POST',
        key: gateway.managementKey,
        body: JSON.stringify({ key_hashes: [hash] }),
        headers: { 'content-type': 'application/json' },
      });
      const { page, close, problems } = await opened('/keys?search=narrowed');
      await page.getByRole('button', { name: 'narrowed', exact: true }).click();
      const dialog = page.getByRole('dialog', { name: 'narrowed' });
      await dialog.getByRole('link', { name: 'Narrow rules' }).waitFor();
      await dialog.getByText('It can call every model that').waitFor();
      await dialog.getByRole('button', { name: 'Allowed models: All models' }).click();
      const search = page.getByRole('combobox', { name: 'Search: Allowed models' });
      // Escape closes the list alone.
      await search.press('Escape');
      await dialog.getByRole('button', { name: 'Allowed models: All models' }).click();
      await search.fill('simulator/standard');
      await search.press('Enter');
      await dialog.getByRole('button', { name: 'Remove simulator/standard' }).waitFor();
      await dialog.getByRole('button', { name: 'Allowed models: Add a model' }).waitFor();
      await dialog.getByLabel('Requests a minute').fill('lots');
      await dialog.getByLabel('Tokens a minute').fill('40,000');
      await dialog.getByText('A whole number, such as 60').waitFor();
      await dialog.getByLabel('Requests a minute').fill('60');
      await dialog.getByText('In a minute it gets 60 requests and 40,000 tokens').waitFor();
      await dialog.getByLabel('Expires').fill('2099-01-31T12:00');
      await dialog.getByRole('button', { name: 'Save changes' }).click();
      const undo = page.locator('.toast', { hasText: 'narrowed was changed' }).getByRole('button');
      await undo.waitFor();
      expect(await keyNamed('narrowed')).toMatchObject({
        allowed_models: ['simulator/standard'],
        requests_per_minute: 60,
        tokens_per_minute: 40_000,
        expires_at: expect.stringMatching(/^2099-/),
      });
      await undo.click();
      await eventually(async () => (await keyNamed('narrowed')).allowed_models).toBeNull();
      expect(await keyNamed('narrowed')).toMatchObject({
        requests_per_minute: null,
        tokens_per_minute: null,
        expires_at: null,
      });
      expect(problems).toEqual([]);
      await gateway.fetch(`/guardrails/${guardrail.id}`, { method: 'DELETE', key: gateway.managementKey });
      await close();
    });

    it('pages through many keys, finds one on the gateway, sorts, and shows markup as text', async () => {
      const { id } = await data(201, 'POST', '/workspaces', { name: 'Many', slug: 'many' });
      await data(201, 'POST', '/keys', { name: MARKUP, workspace_id: id });
      for (let from = 0; from < 140; from += 20) {
        await Promise.all(
          Array.from({ length: 20 }, (_, index) =>
            data(201, 'POST', '/keys', { name: `many ${from + index}`, workspace_id: id }),
          ),
        );
      }
      const { page, close, problems } = await opened(`/keys?workspace=${id}`);
      await page.getByText('100+', { exact: true }).waitFor();
      const drawn = await page.locator('tbody tr[data-index]').count();
      expect(drawn).toBeLessThan(60);
      await eventually(async () => {
        await page.mouse.wheel(0, 3_000);
        return page.getByText(MARKUP).count();
      }).toBe(1);
      await page.locator('.top').getByText('141', { exact: true }).waitFor();
      expect(await page.title()).toBe('Keys · Signalbox');
      await page.getByRole('button', { name: 'Name', exact: true }).click();
      await page.evaluate('window.scrollTo(0, 0)');
      await page.locator('tr[data-index="0"]', { hasText: MARKUP }).waitFor();
      expect(await page.getByRole('columnheader', { name: 'Name' }).getAttribute('aria-sort')).toBe(
        'ascending',
      );
      await page.keyboard.press('/');
      await page.keyboard.type('many 13');
      // "many 13" and "many 130" to "many 139".
      await page.locator('.top').getByText('11', { exact: true }).waitFor();
      expect(new URL(page.url()).searchParams.get('search')).toBe('many 13');
      expect(problems).toEqual([]);
      await close();
    });

    it('marks a key red that refuses, whatever is left of its limit, and writes amounts alike', async () => {
      const { body } = await under().manage.ask('POST', '/keys', { name: 'refuses', limit: 0.000001 });
      await gateway.fetch('/responses', {
        method: 'POST',
        key: body.key,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'simulator/standard', input: 'Hello' }),
      });
      const { page, close, problems } = await opened('/keys');
      const row = page.getByRole('row', { name: /^refuses/ });
      await eventually(async () => {
        await page.reload();
        await row.waitFor();
        return row.locator('.tag.bad').allTextContents();
      }).toEqual(['0 %, refusing']);
      const limits = await page.locator('.bud .dim').allTextContents();
      const decimals = limits.flatMap((text) => /\.(\d+)/.exec(text)?.[1]?.length ?? []);
      expect(new Set(decimals).size).toBe(1);
      await under().manage.ask('DELETE', `/keys/${body.data.hash}`);
      expect(problems).toEqual([]);
      await close();
    });

    it('shows keys of the configuration file, and offers no change of them', async () => {
      const { page, close, problems } = await opened('/keys?search=from-file');
      await page.getByRole('button', { name: /^from-file/ }).click();
      await page.getByText('The configuration file of the gateway declares this key').waitFor();
      expect(await page.getByRole('button', { name: 'Save changes' }).count()).toBe(0);
      await page.getByRole('button', { name: 'Close' }).click();
      await page.getByRole('button', { name: 'Actions for from-file' }).click();
      await page.getByRole('button', { name: 'Show its requests' }).waitFor();
      expect(await page.getByRole('button', { name: 'Revoke' }).count()).toBe(0);
      expect(problems).toEqual([]);
      await close();
    });
  });
}
