import { describe, expect, it } from 'vitest';
import { configuredIdIssues, isRouterId, virtualIdProblem } from './virtual-ids.ts';

it.each([
  ['acorn/auto', true],
  ['acorn/auto:nitro', true],
  ['acorn/pareto-code', true],
  ['acorn/fusion-flash', true],
  ['acorn/bodybuilder', true],
  ['acorn/automatic', false],
  ['acorn/constructor', false],
  ['other/auto', false],
  ['auto', false],
])('%s is the id of a router: %s', (id, expected) => {
  expect(isRouterId(id, 'acorn')).toBe(expected);
  expect(isRouterId(id, undefined)).toBe(false);
});

it.each([
  ['acorn/auto:online', /is a router of this gateway/],
  ['~acme/opus-latest', /newest model of a family/],
  ['~acme/opus-latest:nitro', /newest model of a family/],
])('no model can have the id %s', (id, message) => {
  expect(virtualIdProblem(id, 'acorn')).toMatch(message);
  expect(virtualIdProblem(id, 'acorn')).toContain(id);
});

it('leaves other ids alone', () => {
  for (const id of ['acorn/large', 'acme/opus-latest', '~acme/opus', 'acme/large:free']) {
    expect(virtualIdProblem(id, 'acorn')).toBeUndefined();
  }
});

describe('the models of a configuration', () => {
  it('cannot have the ids of routers, as aliases neither', () => {
    const issues = configuredIdIssues(
      [{ id: 'acme/large', aliases: ['large', 'acorn/free'] }, { id: 'acorn/auto' }],
      'acorn',
    );
    expect(issues.map(({ path }) => path)).toEqual(['models[0].aliases[1]', 'models[1].id']);
  });

  it('may say by an alias which model is the newest', () => {
    expect(configuredIdIssues([{ id: 'acme/opus-4', aliases: ['~acme/opus-latest'] }], 'acorn')).toEqual([]);
    expect(configuredIdIssues([{ id: '~acme/opus-latest' }], 'acorn')).toHaveLength(1);
  });
});
