import { describe, expect, it } from 'vitest';
import type { FilterGroup, FilterRule } from '../ports/following/destinations.ts';
import type { FilterFacts } from './filter-fields.ts';
import { filterIssues, filterOf } from './filter-rules.ts';

const facts = {
  generation: {
    id: 'gen-1',
    scopes: { key: 'k', workspace: 'w', account: 'a' },
    settledAtMs: 1,
    charge: { creditNanos: 250_000_000n, byokNanos: 0n },
    writtenOffNanos: 0n,
    writtenOffCause: null,
    row: {
      model: 'acme/large',
      provider_name: 'Acme',
      session_id: null,
      external_user: 'ada',
      finish_reason: 'stop',
      tokens_prompt: 100,
      tokens_completion: 20,
    },
  },
  content: {
    input: {
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Order 4711' },
            { type: 'image_url', url: 'data:x' },
          ],
        },
      ],
    },
    output: { completion: 'Shipped on Monday', reasoning: null },
    error: null,
  },
  apiKeyName: 'team key',
} as unknown as FilterFacts;

const rule = (field: string, operator: string, value: FilterRule['value'] = null): FilterRule => ({
  field,
  operator,
  value,
});
const holds = (...groups: FilterGroup[]) => filterOf({ isEnabled: true, groups })(facts);
const one = (...given: Parameters<typeof rule>) => holds({ logic: 'and', rules: [rule(...given)] });

describe('filterOf', () => {
  it.each([
    ['model', 'equals', 'acme/large', true],
    ['model', 'equals', 'acme/Large', false],
    ['model', 'not_equals', 'acme/small', true],
    ['provider', 'starts_with', 'Ac', true],
    ['provider', 'ends_with', 'Ac', false],
    ['session_id', 'exists', null, false],
    ['session_id', 'not_exists', null, true],
    ['session_id', 'contains', '', false],
    ['session_id', 'not_contains', 'x', true],
    ['session_id', 'not_equals', 'x', true],
    ['session_id', 'regex', '', false],
    ['user_id', 'contains', 'd', true],
    ['api_key_name', 'regex', '^team\\b', true],
    ['api_key_name', 'regex', '^key', false],
    ['finish_reason', 'equals', 'stop', true],
    ['input', 'contains', 'Order 4711', true],
    ['input', 'contains', 'Be brief', true],
    ['input', 'contains', 'data:x', false],
    ['input', 'contains', 'user', false],
    ['output', 'contains', 'Monday', true],
    ['total_cost', 'gte', 0.25, true],
    ['total_cost', 'gt', 0.25, false],
    ['total_tokens', 'equals', 120, true],
    ['prompt_tokens', 'lt', 100, false],
    ['completion_tokens', 'lte', 20, true],
  ])('%s %s %s: %s', (field, operator, value, expected) => {
    expect(one(field, operator, value)).toBe(expected);
  });

  it('joins rules as their group says, and takes what any group takes', () => {
    const [yes, no] = [rule('model', 'exists'), rule('session_id', 'exists')];
    expect(holds({ logic: 'and', rules: [yes, no] })).toBe(false);
    expect(holds({ logic: 'or', rules: [yes, no] })).toBe(true);
    expect(holds({ logic: 'and', rules: [no] }, { logic: 'and', rules: [yes] })).toBe(true);
  });

  it('takes everything without rules, or while they are off', () => {
    const no: FilterGroup = { logic: 'and', rules: [rule('session_id', 'exists')] };
    expect(filterOf(null)(facts)).toBe(true);
    expect(filterOf({ isEnabled: true, groups: [] })(facts)).toBe(true);
    expect(filterOf({ isEnabled: false, groups: [no] })(facts)).toBe(true);
  });

  it('lets nothing out by rules that it does not know', () => {
    expect(one('colour', 'exists')).toBe(false);
    expect(one('model', 'sounds_like', 'x')).toBe(false);
    expect(one('model', 'regex', '(?=x)')).toBe(false);
  });

  it('finds no prompt where none is kept', () => {
    const { content: _, ...rest } = facts;
    const filter = filterOf({
      isEnabled: true,
      groups: [{ logic: 'and', rules: [rule('input', 'exists')] }],
    });
    expect(filter({ ...rest, content: undefined })).toBe(false);
  });
});

describe('filterIssues', () => {
  const issues = (...given: Parameters<typeof rule>) =>
    filterIssues({ groups: [{ logic: 'and', rules: [rule('model', 'exists'), rule(...given)] }] });
  const path = 'filter_rules.groups[0].rules[1]';

  it.each([
    ['model', 'gt', 'x', 'operator', /^must be one of equals, .* for model$/],
    ['total_cost', 'contains', 1, 'operator', /^must be one of equals, .* for total_cost$/],
    ['total_cost', 'gt', '1', 'value', 'must be a number for total_cost'],
    ['model', 'equals', 1, 'value', 'must be a string for model'],
    ['model', 'equals', null, 'value', 'must be a string for model'],
    ['model', 'regex', '(?=x)', 'value', /^the pattern /],
    ['model', 'exists', 'x', 'value', 'must be left out for exists'],
  ])('%s %s %s', (field, operator, value, member, message) => {
    expect(issues(field, operator, value)).toEqual([
      { path: `${path}.${member}`, message: expect.stringMatching(message) },
    ]);
  });

  it('finds nothing wrong with sound rules', () => {
    expect(issues('input', 'regex', '\\bpassword\\b')).toEqual([]);
    expect(filterIssues(null)).toEqual([]);
  });
});
