import { describe, expect, it } from 'vitest';
import type { WorkspaceObject } from '../../api/contract.ts';
import { slugOf, workspaceBody, workspaceProblems, workspaceValues } from './workspace-form.ts';

const values = { ...workspaceValues(null), name: 'Research', slug: 'research' };

describe('slugOf', () => {
  it.each([
    ['Research team', 'research-team'],
    ['  Größe & Co. ', 'gro-e-co'],
    ['日本', ''],
    ['x'.repeat(60), 'x'.repeat(50)],
  ])('of %j is %j', (name, slug) => expect(slugOf(name)).toBe(slug));
});

describe('workspaceProblems', () => {
  it('names the field of each problem', () => {
    expect(workspaceProblems(values)).toEqual({});
    const wrong = { ...values, name: '', slug: 'A b', io_logging_sampling_rate: '101' };
    expect(Object.keys(workspaceProblems(wrong))).toEqual(['name', 'slug', 'io_logging_sampling_rate']);
  });
});

describe('workspaceBody', () => {
  it('has null for what is empty, and a share for per cent', () => {
    expect(workspaceBody({ ...values, io_logging_sampling_rate: '12.5' }, null)).toMatchObject({
      description: null,
      default_text_model: null,
      io_logging_sampling_rate: 0.125,
    });
  });

  it('changes only what differs', () => {
    const known = { ...(workspaceBody(values, null) as unknown as WorkspaceObject), name: 'Old' };
    expect(workspaceBody(values, known)).toEqual({ name: 'Research' });
  });
});
