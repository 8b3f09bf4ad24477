import { beforeAll, describe, expect, it } from 'vitest';
import type { Management } from '../../../kit/management.ts';
import type { ConsoleUnderTest } from '../console-under-test.ts';

export function classifiersSuite(under: () => ConsoleUnderTest): void {
  describe('classifiers in the console', () => {
    let data: Management['data'];
    beforeAll(() => {
      ({ data } = under().manage);
    });

    it('adds one with its questions, changes it, switches it off and deletes it', async () => {
      const { page, close, problems } = await under().opened('/classifiers');
      await page.getByText('No classifiers yet').waitFor();
      await page.keyboard.press('c');
      const create = page.getByRole('dialog', { name: 'Add a classifier' });
      await create.getByLabel('Name', { exact: true }).fill('support');
      await create.getByRole('button', { name: 'Add classifier' }).click();
      await create.getByText('Say which model answers.').waitFor();
      await create.getByText('Each question needs a name and at least one answer.').waitFor();
      await create.getByLabel('Model', { exact: true }).fill('simulator/standard');
      await create.getByLabel('Name of the dimension').fill('total cost');
      await create.getByLabel('What is asked').fill('What it is about');
      await create.getByLabel('Answers').fill('billing: invoices and refunds\nother');
      await create.getByRole('button', { name: 'Add classifier' }).click();
      await create.getByText('letters, digits and underscores').waitFor();
      await create.getByLabel('Name of the dimension').fill('topic');
      await create.getByLabel('Most a month').fill('2.50');
      await create.getByRole('button', { name: 'Add classifier' }).click();
      const row = page.getByRole('row', { name: /support.*topic.*simulator\/standard/ });
      await row.waitFor();
      const all = () => data(200, 'GET', '/classifiers?all_workspaces=true');
      expect(await all()).toMatchObject([
        {
          name: 'support',
          is_active: true,
          monthly_budget_usd: 2.5,
          dimensions: [
            {
              name: 'topic',
              description: 'What it is about',
              values: [
                { value: 'billing', description: 'invoices and refunds' },
                { value: 'other', description: null },
              ],
            },
          ],
        },
      ]);
      await row.click();
      const edit = page.getByRole('dialog', { name: 'support' });
      await edit.getByRole('button', { name: 'Another question' }).click();
      const second = edit.getByRole('group', { name: 'Question 2' });
      await second.getByLabel('Name of the dimension').fill('mood');
      await second.getByLabel('Answers').fill('calm\nangry');
      await edit.getByLabel('Share of sessions').fill('10');
      await edit.getByRole('button', { name: 'Save changes' }).click();
      await page.getByRole('row', { name: /support.*topic, mood/ }).waitFor();
      expect(await all()).toMatchObject([
        { sampling_rate: 0.1, dimensions: [{ name: 'topic' }, { name: 'mood' }] },
      ]);
      await row.click();
      const again = page.getByRole('dialog', { name: 'support' });
      await again.getByLabel('A text, or the id of a generation').fill('Where is my invoice?');
      await again.getByRole('button', { name: 'Ask the model' }).click();
      await again.getByText(/^topic: (billing|other)$/).waitFor();
      await again.getByLabel('Most that the run may cost').fill('0.5');
      await again.getByRole('button', { name: 'Classify the last 31 days' }).click();
      await again.getByText(/(done|running), started/).waitFor();
      const [run] = await data(200, 'GET', `/classifiers/${(await all())[0].id}/runs`);
      expect(run).toMatchObject({ budget_usd: 0.5 });
      await page.keyboard.press('Escape');
      await page.getByRole('row', { name: /support.*(begins in a moment|waiting|up to date)/ }).waitFor();
      const act = async (name: string) => {
        await page.getByRole('button', { name: 'Actions for support' }).click();
        await page.getByRole('button', { name, exact: true }).click();
      };
      await act('Switch off');
      await page.locator('td .tag', { hasText: 'off' }).waitFor();
      await act('Delete');
      const confirm = page.getByRole('dialog', { name: 'Delete support?' });
      await confirm.getByRole('textbox').fill('support');
      await confirm.getByRole('button', { name: 'Delete classifier' }).click();
      await page.getByText('No classifiers yet').waitFor();
      expect(problems).toEqual([]);
      await close();
    });

    it('has analytics grouped and filtered by its tags', async () => {
      const made = (await data(201, 'POST', '/classifiers', {
        name: 'support',
        model: 'simulator/standard',
        dimensions: [{ name: 'topic', values: [{ value: 'billing' }, { value: 'other' }] }],
      })) as { id: string };
      const { page, close, problems } = await under().opened('/analytics?dimensions=none&granularity=none');
      await page.getByLabel('Classifier').selectOption(made.id);
      await page.getByLabel('Add a dimension').selectOption('topic');
      await page.getByRole('columnheader', { name: 'topic' }).waitFor();
      await page.getByLabel('Add a filter').selectOption('topic');
      expect(await page.getByLabel('Operator').getByRole('option').allTextContents()).toEqual([
        'is',
        'is not',
        'is any of',
        'is none of',
      ]);
      await page.getByLabel('Value', { exact: true }).fill('billing');
      await page.getByRole('button', { name: 'Add filter' }).click();
      await page.getByText('No usage matches this question').waitFor();
      expect(JSON.parse((await page.getByRole('tabpanel').locator('pre').textContent()) ?? '')).toMatchObject(
        {
          classifier_dimensions: { classifier_id: made.id, dimension_names: ['topic'], include_nulls: true },
          classifier_filters: {
            classifier_id: made.id,
            filters: [{ field: 'topic', operator: 'eq', value: 'billing' }],
          },
        },
      );
      await page.getByLabel('Classifier').selectOption('');
      await page.getByRole('columnheader', { name: 'Spend' }).waitFor();
      expect(new URL(page.url()).search).toBe('?dimensions=none&granularity=none');
      expect(problems).toEqual([]);
      await close();
      await under().manage.ask('DELETE', `/classifiers/${made.id}`);
    });
  });
}
