import { expect, it } from 'vitest';
import { runAtOnce } from '../../kit/loop/turns.ts';
import type { DeclaredWorkspace } from './application.ts';
import { guardrailProblems } from './guardrail-problems.ts';

it('refuses patterns of a file that take too long together, at the dearest', () => {
  const filters = Array.from({ length: 60 }, (_, index) => ({
    pattern: `a{1,${index === 3 ? 120 : 90}}b${index}`,
    action: 'block',
  }));
  const workspace = {
    guardrails: [{ name: 'one', content_filters: filters }],
  } as unknown as DeclaredWorkspace;
  const context = { providers: [], hasEntityService: false, assigned: new Map() };
  expect(runAtOnce(guardrailProblems(workspace, 'at', context))).toEqual([
    {
      path: 'at[0].content_filters[3].pattern',
      message: expect.stringMatching(/takes \d+ steps a character, and with the others more than 5000/),
    },
  ]);
});

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
