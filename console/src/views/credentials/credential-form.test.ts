import { describe, expect, it } from 'vitest';
import type { ByokObject } from '../../api/contract.ts';
import {
  createBody,
  credentialProblems,
  credentialValues,
  EVERY_WORKSPACE,
  USES,
  type Use,
  updateBody,
  useOf,
} from './credential-form.ts';

const values = { ...credentialValues(null, 'w'), provider: 'openai', key: ' sk-1 ' };

describe('useOf', () => {
  it.each(Object.keys(USES) as Use[])('reads the switches of %s', (use) =>
    expect(useOf(USES[use])).toBe(use),
  );
});

describe('credentialProblems', () => {
  it('wants a provider, and a secret of a new one', () => {
    expect(credentialProblems(values, true)).toEqual({});
    const empty = { ...values, provider: ' ', key: '' };
    expect(Object.keys(credentialProblems(empty, true))).toEqual(['provider', 'key']);
    expect(Object.keys(credentialProblems(empty, false))).toEqual(['provider']);
  });
});

describe('the bodies of requests', () => {
  it('has null for every workspace and for no restriction', () => {
    expect(createBody({ ...values, workspace_id: EVERY_WORKSPACE, use: 'fallback' })).toEqual({
      provider: 'openai',
      key: 'sk-1',
      workspace_id: null,
      name: null,
      ...USES.fallback,
      allowed_models: null,
      allowed_api_key_hashes: null,
    });
  });

  it('changes only what differs, and the secret only where one was typed', () => {
    const known = {
      provider: 'openai',
      name: 'team',
      ...USES.first,
      allowed_models: ['a', 'b'],
      allowed_api_key_hashes: null,
      workspace_id: 'w',
    } as ByokObject;
    const same = credentialValues(known, 'w');
    expect(updateBody(same, known)).toEqual({});
    expect(updateBody({ ...same, allowed_models: 'a\n', key: 'sk-2' }, known)).toEqual({
      allowed_models: ['a'],
      key: 'sk-2',
    });
  });
});
