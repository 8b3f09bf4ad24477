import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';

const PATIENCE = { timeout: 20_000, interval: 50 };

const dimensions = [
  { name: 'topic', values: [{ value: 'billing', description: 'Invoices' }, { value: 'other' }] },
];
const topics = { name: 'Topics', model: 'simulator/standard', dimensions };

let gateway: TestGateway;
let management: Management;

beforeAll(async () => {
  gateway = await openTestGateway(fileWith(topics));
  management = managementOf(gateway);
});
afterAll(() => gateway.close());

function fileWith(...classifiers: JsonObject[]): JsonObject {
  return { workspaces: [{ slug: 'default', ...(classifiers.length > 0 && { classifiers }) }] };
}

const load = (...classifiers: JsonObject[]) =>
  writeFileSync(gateway.configFile, stringify(fileWith(...classifiers)));

const listed = async (): Promise<any[]> => (await management.ask('GET', '/classifiers')).body.data;

describe('workspaces[].classifiers', () => {
  it('stores what the file declares, read-only over the API', async () => {
    const [classifier, ...others] = await listed();
    expect(others).toEqual([]);
    expect(classifier).toMatchObject({
      name: 'Topics',
      is_active: true,
      sampling_rate: 1,
      dimensions: [{ name: 'topic', description: null, values: [{ value: 'billing' }, { value: 'other' }] }],
      managed_by: 'file',
    });
    const path = `/classifiers/${classifier.id}`;
    for (const [method, body] of [['PATCH', { name: 'x' }], ['DELETE']] as const) {
      const answer = await management.ask(method, path, body);
      expect([answer.status, answer.body.error.message]).toEqual([
        409,
        'This classifier is managed by the configuration file: change workspaces[0].classifiers[0] there',
      ]);
    }
    expect((await management.ask('POST', `${path}/test`, { text: 'Hi' })).body.data.tags).toEqual({
      topic: 'billing',
    });
  });

  it('follows the file: changes, another active one, and none', async () => {
    const [{ id }] = await listed();
    load({ ...topics, sampling_rate: 0.5, monthly_budget_usd: 3, description: 'A shop' });
    await expect
      .poll(listed, PATIENCE)
      .toMatchObject([{ id, sampling_rate: 0.5, monthly_budget_usd: 3, description: 'A shop' }]);
    load({ ...topics, is_active: false }, { ...topics, name: 'Moods' });
    await expect
      .poll(async () => (await listed()).map(({ name, is_active }) => [name, is_active]), PATIENCE)
      .toEqual([
        ['Topics', false],
        ['Moods', true],
      ]);
    load();
    await expect
      .poll(
        async () => (await listed()).map(({ managed_by, is_active }) => [managed_by, is_active]),
        PATIENCE,
      )
      .toEqual([
        [null, false],
        [null, false],
      ]);
    expect((await management.ask('PATCH', `/classifiers/${id}`, { is_active: true })).status).toBe(200);
    // One of the API is active: a file with another active one is refused as a whole.
    load({ ...topics, name: 'Third' });
    await expect
      .poll(() => gateway.logText(), PATIENCE)
      .toContain('has an active classifier that was made by the API');
    expect(await listed()).toHaveLength(2);
  });
});
