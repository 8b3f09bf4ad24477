import { expect, it } from 'vitest';
import type { DeclaredWorkspace } from './application.ts';
import { guardrailProblems } from './guardrail-problems.ts';

it('checks patterns of a file in slices, and names the place of each that is refused', () => {
  const filters = ['PRJ-\\d{4}', '(?=a)', 'EMP\\d{6}', '.{1000}'].map((pattern) => ({
    pattern,
    action: 'block',
  }));
  const workspace = {
    guardrails: [{ name: 'one', content_filters: filters }],
  } as unknown as DeclaredWorkspace;
  const work = guardrailProblems(workspace, 'at', {
    providers: [],
    hasEntityService: false,
    assigned: new Map(),
  });
  let slices = 1;
  let step = work.next();
  for (; step.done !== true; step = work.next()) slices++;
  expect(step.value.map(({ path }) => path)).toEqual([
    'at[0].content_filters[1].pattern',
    'at[0].content_filters[3].pattern',
  ]);
  expect(slices).toBeGreaterThan(filters.length);
});
