import { describe, expect, it } from 'vitest';
import { ApiError } from '../../api/request.ts';
import { refusedMembersOf, sentence } from './issues.ts';

describe('sentence', () => {
  it.each([
    ['must be less than 5', 'Must be less than 5.'],
    ['"a/b" is not a model; did you mean "a/c"?', '"a/b" is not a model; did you mean "a/c"?'],
    ['invalid_regex_pattern: the pattern has a lookbehind', 'The pattern has a lookbehind.'],
  ])('makes %j a sentence for readers', (message, shown) => expect(sentence(message)).toBe(shown));
});

describe('refusedMembersOf', () => {
  it('has the issues of a refusal, and none for other failures', () => {
    const issues = [{ path: 'name', message: 'is required' }];
    expect(refusedMembersOf(new ApiError(400, 'name: is required', { metadata: { issues } }))).toEqual(
      issues,
    );
    expect(refusedMembersOf(new ApiError(409, 'changed elsewhere'))).toEqual([]);
    expect(refusedMembersOf(new Error('no answer'))).toEqual([]);
  });
});
