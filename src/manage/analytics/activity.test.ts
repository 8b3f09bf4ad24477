import { describe, expect, it } from 'vitest';
import { keyOf, workspaceOf } from '../../../test/kit/builders/tenancy.ts';
import type { ActivityQuery } from '../../contract/analytics/activity.ts';
import type { EventQuery, EventRow } from '../../ports/events/events.ts';
import { Activity } from './activity.ts';

const KEY = 'a'.repeat(64);
const WORKSPACE = '00000000-0000-4000-8000-000000000001';
const NOW = Date.parse('2026-06-10T12:34:56Z');

function activityWith(rows: readonly EventRow[], isTruncated = false) {
  const asked: EventQuery[] = [];
  const activity = new Activity({
    events: {
      query: async (query) => {
        asked.push(query);
        return { rows, totalRows: rows.length, isTruncated, missingBeforeMs: null };
      },
    },
    tenancy: {
      findKey: async (hash) => (hash === KEY ? keyOf({ hash }) : undefined),
      findWorkspaceById: async (accountId, id) =>
        accountId === 'account' && id === WORKSPACE ? workspaceOf({ id }) : undefined,
      defaultWorkspaceOf: async () => undefined,
    },
    clock: { now: () => NOW },
  });
  const list = (query: ActivityQuery = {}, accountId = 'account') =>
    activity.list(accountId, query, new AbortController().signal);
  return { list, asked };
}

const ROW: EventRow = {
  bucketMs: Date.UTC(2026, 5, 9),
  dimensions: ['acme/large', 'acme/large-2026', 'acme/fp8', 'Acme', WORKSPACE],
  metrics: [1_500_000_000n, 1n, 3n, 40n, 50n, 6n],
};

describe('activity', () => {
  it('is of the 30 UTC days that are over, by model and endpoint', async () => {
    const { list, asked } = activityWith([ROW]);
    expect(await list()).toEqual([
      {
        date: '2026-06-09',
        model: 'acme/large',
        model_permaslug: 'acme/large-2026',
        endpoint_id: 'acme/fp8',
        provider_name: 'Acme',
        usage: 1.5,
        byok_usage_inference: 1e-9,
        requests: 3,
        prompt_tokens: 40,
        completion_tokens: 50,
        reasoning_tokens: 6,
      },
    ]);
    expect(asked[0]).toMatchObject({
      accountId: 'account',
      startMs: Date.UTC(2026, 4, 11),
      endMs: Date.UTC(2026, 5, 10),
      filters: [],
    });
  });

  it('has the workspace only if grouped by it, and empty text if no provider served', async () => {
    const { list, asked } = activityWith([{ ...ROW, dimensions: ['a', 'b', null, null, WORKSPACE] }]);
    const [row] = await list({ group_by: 'workspace' });
    expect(row).toMatchObject({ endpoint_id: '', provider_name: '', workspace_id: WORKSPACE });
    expect(asked[0]?.dimensions).toContain('workspace');
    expect((await list())[0]).not.toHaveProperty('workspace_id');
  });

  it.each([
    ['2026-06-09', Date.UTC(2026, 5, 9)],
    ['2026-05-11', Date.UTC(2026, 4, 11)],
  ])('is of one day: %s', async (date, startMs) => {
    const { list, asked } = activityWith([]);
    await list({ date });
    expect(asked[0]).toMatchObject({ startMs, endMs: startMs + 86_400_000 });
  });

  it.each(['2026-06-10', '2026-06-11', '2026-05-10', '2026-02-30', '0000-00-00'])(
    'is not of %s',
    async (date) => {
      await expect(activityWith([]).list({ date })).rejects.toMatchObject({
        status: 400,
        message: 'date: must be one of the last 30 UTC days that are over: 2026-05-11 to 2026-06-09',
      });
    },
  );

  it('is of one key, workspace and user', async () => {
    const { list, asked } = activityWith([]);
    await list({ api_key_hash: KEY.toUpperCase(), workspace_id: WORKSPACE, user_id: 'u' });
    expect(asked[0]?.filters.map(({ field, operator, values }) => [field, operator, ...values])).toEqual([
      ['api_key_id', 'eq', KEY],
      ['workspace', 'eq', WORKSPACE],
      ['user', 'eq', 'u'],
    ]);
  });

  it('is not there for keys and workspaces that the account does not have', async () => {
    const { list } = activityWith([]);
    const other = { api_key_hash: 'b'.repeat(64) };
    const noKey = { status: 404, message: 'api_key_hash: there is no such key' };
    await expect(list(other)).rejects.toMatchObject(noKey);
    await expect(list({ api_key_hash: KEY }, 'stranger')).rejects.toMatchObject(noKey);
    await expect(list({ workspace_id: WORKSPACE }, 'stranger')).rejects.toMatchObject({
      status: 404,
      message: 'workspace_id: there is no such workspace',
    });
    // A deleted key of the account is known by its usage.
    expect(await activityWith([ROW]).list(other)).toHaveLength(1);
  });

  it('refuses to leave rows out', async () => {
    await expect(activityWith([ROW], true).list()).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('date: more than 50000 rows match'),
    });
  });
});
