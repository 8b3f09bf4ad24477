import { describe, expect, it } from 'vitest';
import { appliesTo } from './applies-to.ts';

describe('appliesTo', () => {
  it.each([
    [{ default_of: 'account' }, 'all keys of the account'],
    [{ default_of: 'workspace', assigned_keys: 1 }, 'all keys of Lab, 1 key'],
    [{ default_of: null, assigned_keys: 2, assigned_members: 1 }, '2 keys, 1 member'],
    [{ default_of: null, assigned_keys: 0, assigned_members: 0 }, undefined],
  ] as const)('says of %j: %s', (guardrail, words) => expect(appliesTo(guardrail, 'Lab')).toBe(words));
});
