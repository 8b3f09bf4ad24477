import { describe, expect, it } from 'vitest';
import { operationProblem } from './v4a.ts';

const update = (diff: string) => operationProblem({ type: 'update_file', path: 'a.ts', diff });
const create = (diff: string) => operationProblem({ type: 'create_file', path: 'a.ts', diff });

describe('operationProblem', () => {
  it.each([
    '@@\n-a\n+b\n',
    '-a\n+b',
    '@@ class A\n@@ def f():\n context\n-old\n+new\n\n more\n',
    '@@\n-a\n@@ later\n+b\n*** End of File\n',
    '@@\r\n-a\r\n+b\r\n',
  ])('takes the update %j', (diff) => expect(update(diff)).toBeUndefined());

  it.each([
    ['', /changes nothing/],
    ['@@\n a\n', /changes nothing/],
    ['@@\n-a\n@@\n', /empty/],
    ['*** Begin Patch\n*** Update File: a\n-a\n', /without \*\*\* headers/],
    ['*** End of File\n', /after a section/],
    ['+a\n*** End of File\n+b\n', /nothing may follow/],
    ['@@\nconst a\n', /line 2 of diff must begin/],
    ['--- a.ts\n+++ b.ts\n@@-1,2 +1,2@@\n', /line 3/],
  ])('refuses the update %j', (diff, expected) => expect(update(diff)).toMatch(expected));

  it('takes new files whose lines are all new', () => {
    expect(create('+a\n+\n+b\n')).toBeUndefined();
    expect(create('')).toBeUndefined();
    expect(create('+a\nb\n')).toMatch(/line 2/);
  });

  it('needs a type, a path and a diff', () => {
    expect(operationProblem({ type: 'delete_file', path: 'a' })).toBeUndefined();
    expect(operationProblem({ type: 'delete_file', path: ' ' })).toMatch(/path/);
    expect(operationProblem({ type: 'delete_file', path: 'a\0b' })).toMatch(/path/);
    expect(operationProblem({ type: 'update_file', path: 'a' })).toMatch(/diff is missing/);
    expect(operationProblem({ type: 'move_file', path: 'a' })).toMatch(/type/);
  });
});
