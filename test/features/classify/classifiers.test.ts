import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';

const PATH = '/classifiers';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

let gateway: TestGateway;
let management: Management;
/** Management key of a second account. */
let stranger: string;

beforeAll(async () => {
  gateway = await openTestGateway();
  management = managementOf(gateway);
  stranger = (await management.command('accounts.create', { name: 'stranger' })).management_key;
});

afterAll(() => gateway.close());

afterEach(async () => {
  const { data } = (await management.ask('GET', `${PATH}?all_workspaces=true&limit=100`)).body;
  for (const { id } of data) await management.ask('DELETE', `${PATH}/${id}`);
});

const topic = {
  name: 'topic',
  description: 'What it is about',
  values: [{ value: 'billing', description: 'Invoices' }, { value: 'other' }],
};
const topics = { name: 'Topics', model: 'simulator/standard', dimensions: [topic] };

const created = (body: JsonObject = topics) => management.data(201, 'POST', PATH, body);

/** Problems of a refused body, by their paths. */
async function problemsOf(body: JsonObject, method = 'POST', path = PATH): Promise<Record<string, string>> {
  const answer = await management.ask(method, path, body);
  expect(answer).toMatchObject({ status: 400, body: { error: { code: 400 } } });
  const { issues } = answer.body.error.metadata;
  return Object.fromEntries(issues.map((issue: any) => [issue.path, issue.message]));
}

describe('POST /classifiers', () => {
  it('stores a classifier', async () => {
    const classifier = await created();
    expect(classifier).toEqual({
      id: expect.stringMatching(UUID),
      workspace_id: expect.stringMatching(UUID),
      name: 'Topics',
      description: null,
      is_active: true,
      model: 'simulator/standard',
      dimensions: [
        {
          ...topic,
          values: [
            { value: 'billing', description: 'Invoices' },
            { value: 'other', description: null },
          ],
        },
      ],
      sampling_rate: 1,
      monthly_budget_usd: null,
      used_usd: 0,
      state: null,
      last_problem: null,
      created_at: expect.stringMatching(/Z$/),
      updated_at: classifier.created_at,
      managed_by: null,
    });
    // It may have begun meanwhile.
    const { state: _, ...rest } = classifier;
    const shown = await management.data(200, 'GET', `${PATH}/${classifier.id.toUpperCase()}`);
    expect(shown).toMatchObject(rest);
  });

  it('takes every setting', async () => {
    const settings = {
      description: 'Line one\nline two',
      is_active: false,
      sampling_rate: 0.0001,
      monthly_budget_usd: 0.5,
    };
    expect(await created({ ...topics, ...settings })).toMatchObject(settings);
  });

  it('names each wrong member by its path', async () => {
    const dimension = (more: JsonObject) => ({ ...topic, ...more });
    expect(
      await problemsOf({
        name: ' ',
        model: '',
        dimensions: [dimension({ name: 'with space' }), dimension({ values: [] }), dimension({ more: 1 })],
        sampling_rate: 0,
        monthly_budget_usd: -1,
        workspace_id: 'x',
        is_active: 'yes',
        colour: 'red',
      }),
    ).toMatchObject({
      name: expect.stringContaining('must hold something besides blanks'),
      model: expect.any(String),
      'dimensions[0].name': 'must be 1 to 64 letters, digits and underscores',
      'dimensions[1].values': expect.any(String),
      'dimensions[2].more': 'is not a known field',
      sampling_rate: expect.any(String),
      monthly_budget_usd: expect.any(String),
      workspace_id: 'must be a UUID',
      is_active: expect.any(String),
      colour: 'is not a known field',
    });
    expect(await problemsOf({})).toEqual({
      name: 'is required',
      model: 'is required',
      dimensions: 'is required',
    });
    const many = Array.from({ length: 9 }, (_, index) => dimension({ name: `d${index}` }));
    expect(Object.keys(await problemsOf({ ...topics, dimensions: many }))).toEqual(['dimensions']);
  });

  it('refuses names and values that are not unique, and names of columns', async () => {
    expect(
      await problemsOf({
        ...topics,
        model: 'nobody/nothing',
        monthly_budget_usd: 1e-12,
        dimensions: [
          topic,
          { ...topic, values: [{ value: 'a' }, { value: '(none of these)' }, { value: 'a' }] },
          ...['model', 'request_count', 'signalbox_usage', 'date__day', '__proto__'].map((name) => ({
            ...topic,
            name,
          })),
        ],
      }),
    ).toEqual({
      model: 'is not a model of this gateway',
      monthly_budget_usd: 'must be a nano-dollar or more',
      'dimensions[1].name': 'is already used at dimensions[0].name',
      'dimensions[1].values[1].value': 'is what models answer if no value fits: choose another',
      'dimensions[1].values[2].value': 'is already used at dimensions[1].values[0].value',
      ...Object.fromEntries(
        [2, 3, 4, 5, 6].map((index) => [
          `dimensions[${index}].name`,
          'is the name of a column of analytics: choose another',
        ]),
      ),
    });
  });

  it('finds problems of valid members beside invalid ones', async () => {
    expect(await problemsOf({ ...topics, model: 'nobody/nothing', is_active: 1 })).toEqual({
      is_active: expect.any(String),
      model: 'is not a model of this gateway',
    });
  });

  it('lets one classifier of a workspace be active', async () => {
    const first = await created();
    const second = await management.ask('POST', PATH, topics);
    expect(second).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringMatching(/^is_active:/) } },
    });
    const spare = await created({ ...topics, is_active: false });
    const switchOn = (id: string, is_active = true) =>
      management.ask('PATCH', `${PATH}/${id}`, { is_active });
    expect((await switchOn(spare.id)).status).toBe(409);
    expect((await switchOn(first.id, false)).status).toBe(200);
    expect((await switchOn(spare.id)).body.data).toMatchObject({ id: spare.id, is_active: true });
  });
});

describe('GET, PATCH and DELETE /classifiers', () => {
  it('lists those of a workspace, or of all', async () => {
    const workspace = await management.data(201, 'POST', '/workspaces', { name: 'Side', slug: 'side' });
    const own = await created();
    const other = await created({ ...topics, workspace_id: workspace.id });
    const listed = async (query: string) => {
      const { data, total_count: total } = (await management.ask('GET', `${PATH}${query}`)).body;
      return [...data.map(({ id }: any) => id), total];
    };
    expect(await listed('')).toEqual([own.id, 1]);
    expect(await listed(`?workspace_id=${workspace.id}`)).toEqual([other.id, 1]);
    expect(await listed('?all_workspaces=true&offset=1&limit=1')).toEqual([other.id, 2]);
    expect((await management.ask('GET', `${PATH}?workspace_id=${UNKNOWN_ID}`)).status).toBe(404);
    expect((await management.ask('GET', `${PATH}?limit=0`)).status).toBe(400);
    await management.ask('DELETE', `${PATH}/${other.id}`);
    await management.ask('DELETE', '/workspaces/side');
  });

  it('changes what is given, and clears what is null', async () => {
    const { id, ...before } = await created({ ...topics, description: 'x', monthly_budget_usd: 5 });
    const changed = await management.data(200, 'PATCH', `${PATH}/${id}`, {
      description: null,
      monthly_budget_usd: null,
      sampling_rate: 0.5,
    });
    expect(changed).toEqual({
      ...before,
      id,
      description: null,
      monthly_budget_usd: null,
      sampling_rate: 0.5,
      state: changed.state,
      updated_at: expect.any(String),
    });
    expect(await problemsOf({ model: 'nobody/nothing' }, 'PATCH', `${PATH}/${id}`)).toHaveProperty('model');
    expect(await problemsOf({ workspace_id: UNKNOWN_ID }, 'PATCH', `${PATH}/${id}`)).toHaveProperty(
      'workspace_id',
    );
  });

  it('shows another account nothing, and a plain key neither', async () => {
    const { id } = await created();
    for (const [method, body] of [['GET'], ['PATCH', { name: 'x' }], ['DELETE']] as const) {
      expect((await management.ask(method, `${PATH}/${id}`, body, stranger)).status).toBe(404);
      expect((await management.ask(method, `${PATH}/${id}`, body, gateway.apiKey)).status).toBe(403);
      expect((await management.ask(method, `${PATH}/${UNKNOWN_ID}`, body)).status).toBe(404);
    }
    expect((await management.ask('GET', PATH, undefined, stranger)).body.total_count).toBe(0);
    expect((await management.ask('POST', PATH, topics, gateway.apiKey)).status).toBe(403);
    expect((await management.ask('GET', `${PATH}/${id}`)).status).toBe(200);
  });

  it('deletes once; analytics do not find it then', async () => {
    const { id } = await created();
    const question = {
      metrics: ['request_count'],
      classifier_dimensions: { classifier_id: id, dimension_names: ['topic'] },
    };
    expect((await management.ask('POST', '/analytics/query', question)).status).toBe(200);
    await management.ask('PATCH', `${PATH}/${id}`, { is_active: false });
    expect((await management.ask('POST', '/analytics/query', question)).body.error.message).toBe(
      'classifier_dimensions.classifier_id: Classifier is not active',
    );
    expect((await management.ask('DELETE', `${PATH}/${id}`)).body).toEqual({ deleted: true });
    expect((await management.ask('DELETE', `${PATH}/${id}`)).status).toBe(404);
    expect((await management.ask('POST', '/analytics/query', question)).body.error.message).toBe(
      'classifier_dimensions.classifier_id: Classifier not found',
    );
  });
});

it('switches the classifiers of a deleted workspace off, for good', async () => {
  await management.data(201, 'POST', '/workspaces', { name: 'Gone', slug: 'gone' });
  const { id: workspace_id } = await management.data(200, 'GET', '/workspaces/gone');
  const { id } = await created({ ...topics, workspace_id });
  expect((await management.ask('DELETE', '/workspaces/gone')).status).toBe(200);
  expect((await management.data(200, 'GET', `${PATH}/${id}`)).is_active).toBe(false);
  expect((await management.ask('PATCH', `${PATH}/${id}`, { is_active: true })).status).toBe(409);
});
