import { describe, expect, it } from 'vitest';
import type { MemberObject } from '../../api/contract.ts';
import { memberBody, memberName, memberProblems, memberValues } from './member-form.ts';

const jane: MemberObject = {
  id: 'user_000000000000000000000001',
  email: 'jane@example.com',
  first_name: 'Jane',
  last_name: null,
  role: 'org:admin',
  disabled: false,
  created_at: '2026-11-19T12:00:00.000Z',
  updated_at: null,
  managed_by: null,
};

describe('the form of a member', () => {
  it('asks for all of a new member, with null for what is empty', () => {
    const values = { ...memberValues(null), email: ' Max@Example.com ', last_name: ' Quill ' };
    expect(memberBody(values, null)).toEqual({
      email: 'max@example.com',
      first_name: null,
      last_name: 'Quill',
      role: 'org:member',
    });
  });

  it('asks for what differs of a known one', () => {
    expect(memberBody(memberValues(jane), jane)).toEqual({});
    expect(memberBody({ ...memberValues(jane), first_name: '', role: 'org:owner' }, jane)).toEqual({
      first_name: null,
      role: 'org:owner',
    });
  });

  it('needs an address', () => {
    expect(memberProblems(memberValues(null))).toHaveProperty('email');
    expect(memberProblems(memberValues(jane))).toEqual({});
  });
});

it('names a member by the names, or else by the address', () => {
  expect(memberName(jane)).toBe('Jane');
  expect(memberName({ ...jane, last_name: 'Doe' })).toBe('Jane Doe');
  expect(memberName({ ...jane, first_name: null })).toBe('jane@example.com');
});
