import { expect, it } from 'vitest';
import { unreadMembers } from './unread-members.ts';

const READ = { size: true, filters: { allowed: true }, configs: { '*': { enabled: true } } } as const;

it('names the members that are not read, with their paths', () => {
  const value = {
    size: { any: 'thing' },
    sise: 1,
    none: null,
    filters: { allowed: [], alowed: [] },
    configs: { 'a b': { enabled: true, later: true } },
    constructor: 1,
  };
  expect(unreadMembers(value, READ)).toEqual([
    'sise',
    'filters.alowed',
    'configs["a b"].later',
    'constructor',
  ]);
});

it('takes a value in the place of an object as read', () => {
  expect(unreadMembers({ filters: 'all', configs: {} }, READ)).toEqual([]);
});
