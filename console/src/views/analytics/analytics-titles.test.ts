import { expect, it } from 'vitest';
import { titleNamed, titleOf } from './analytics-titles.ts';

it.each([
  ['total_usage', 'Total Usage', 'Spend'],
  ['reasoning_tokens', 'Reasoning Tokens', 'Reasoning tokens'],
  ['acme_usage', 'Acme Usage', 'Acme usage'],
  ['Topic', 'Topic (Support Mail)', 'Topic (Support Mail)'],
])('calls %s, labelled %s, %s', (name, label, title) => {
  expect(titleOf({ name, display_label: label })).toBe(title);
});

it('leaves a name that it does not know as it is', () => {
  expect(titleNamed('mood', [])).toBe('mood');
});
