import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../kit/loop/turns.ts';
import type { FilterGroup, FilterRule, FilterRules } from '../ports/following/destinations.ts';
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
const accepts = (rules: FilterRules | null, asked = facts) => runAtOnce(filterOf(rules)(asked));
const holds = (...groups: FilterGroup[]) => accepts({ isEnabled: true, groups });
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
    expect(accepts(null)).toBe(true);
    expect(accepts({ isEnabled: true, groups: [] })).toBe(true);
    expect(accepts({ isEnabled: false, groups: [no] })).toBe(true);
  });

  it('lets nothing out by rules that it does not know', () => {
    expect(one('colour', 'exists')).toBe(false);
    expect(one('model', 'sounds_like', 'x')).toBe(false);
    expect(one('model', 'regex', '(?=x)')).toBe(false);
  });

  it('finds no prompt where none is kept', () => {
    const { content: _, ...rest } = facts;
    const groups: FilterGroup[] = [{ logic: 'and', rules: [rule('input', 'exists')] }];
    expect(accepts({ isEnabled: true, groups }, { ...rest, content: undefined })).toBe(false);
  });

  it('works in short slices, and not for ever, on patterns that many parts of a text begin', () => {
    const output = { completion: 'abba'.repeat(25_000), reasoning: null };
    const asked = { ...facts, content: { ...facts.content, output } } as FilterFacts;
    const hostile = rule('output', 'regex', '[ab].{200}[0-9]');
    const work = filterOf({
      isEnabled: true,
      groups: [{ logic: 'or', rules: Array.from({ length: 20 }, () => hostile) }],
    })(asked);
    let slices = 1;
    let slice = work.next();
    for (; slice.done !== true; slices++) slice = work.next();
    expect(slice.value).toBe(false);
    // Each of 100,000 units at most; all together take no more than 5,000,000.
    expect(slices).toBeGreaterThan(50);
    expect(slices).toBeLessThan(150);
  });

  it('reads prompts once for all rules', () => {
    let reads = 0;
    const input = { messages: [{ role: 'user', content: 'x' }] };
    const content = {
      output: { completion: null, reasoning: null },
      error: null,
      get input() {
        reads++;
        return input;
      },
    };
    const rules = Array.from({ length: 20 }, (_, index) => rule('input', 'contains', String(index)));
    accepts({ isEnabled: true, groups: [{ logic: 'or', rules }] }, { ...facts, content } as FilterFacts);
    expect(reads).toBe(1);
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
    ['model', 'regex', '^.*$', 'value', /^the pattern matches an empty text: use exists/],
    ['model', 'regex', '(x+)+', 'value', /^the pattern repeats a repetition/],
  ])('%s %s %s', (field, operator, value, member, message) => {
    expect(issues(field, operator, value)).toEqual([
      { path: `${path}.${member}`, message: expect.stringMatching(message) },
    ]);
  });

  it('finds nothing wrong with sound rules', () => {
    expect(issues('input', 'regex', '\\bpassword\\b')).toEqual([]);
    expect(filterIssues(null)).toEqual([]);
  });

  it('takes no more patterns than are compiled in a moment', () => {
    const rules = Array.from({ length: 20 }, (_, index) =>
      rule('output', 'regex', `[a-z]{0,200}[b-y]{200}${index}`),
    );
    const groups = Array.from({ length: 10 }, (): FilterGroup => ({ logic: 'or', rules }));
    expect(filterIssues({ groups })).toEqual([
      {
        path: expect.stringMatching(/^filter_rules\.groups\[0\]\.rules\[\d+\]\.value$/),
        message: 'the pattern is too large together with those before it',
      },
    ]);
  });
});
