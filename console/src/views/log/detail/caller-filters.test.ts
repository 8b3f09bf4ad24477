import { expect, it } from 'vitest';
import { callerFilters } from './caller-filters.ts';

const IDS = { key_hash: 'ab'.repeat(32), workspace_id: 'w-1', session_id: 's-1', external_user: 'ann' };
const ROW = { ...IDS, key_name: 'CI', workspace_name: 'Research', app: 'app.example' };

it('names key, workspace, app, session and end user, each with its filter', () => {
  expect(callerFilters(ROW, IDS, true).map(({ label, text, filter }) => [label, text, filter])).toEqual([
    ['Key', 'CI', { key: IDS.key_hash }],
    ['Workspace', 'Research', { workspace: 'w-1' }],
    ['App', 'app.example', { app: 'app.example' }],
    ['Session', 's-1', { session_id: 's-1' }],
    ['End user', 'ann', { external_user: 'ann' }],
  ]);
});

it('falls back to the ids of the record, and leaves out what is not known', () => {
  const ids = { ...IDS, session_id: null, external_user: null };
  expect(callerFilters(null, ids, true).map(({ text }) => text)).toEqual(['abababab', 'w-1']);
  expect(callerFilters(null, undefined, true)).toEqual([]);
});

it('offers no filter by key and workspace to a key that sees only itself', () => {
  const filters = callerFilters(ROW, IDS, false);
  expect(filters.map(({ filter }) => filter !== null)).toEqual([false, false, true, true, true]);
});
