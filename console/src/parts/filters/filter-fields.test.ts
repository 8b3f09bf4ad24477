import { expect, it } from 'vitest';
import { type FilterField, filtersOf, operatorOf, withFilter } from './filter-fields.ts';

const MODEL: FilterField = { name: 'model', label: 'model', kind: 'choice', canExclude: true };
const STATE: FilterField = { name: 'state', label: 'state', kind: 'choice' };
const COST: FilterField = { name: 'min_cost', label: 'cost', kind: 'number', operator: 'at least' };
const FIELDS = [MODEL, STATE, COST];
const of = (query: string) => filtersOf(new URLSearchParams(query), FIELDS);

it('reads the filters of an address, and nothing else of it', () => {
  expect(of('from=-1h&state=failed&model=a%2Fb&model=c&min_cost=')).toEqual([
    { field: STATE, isExcluded: false, values: ['failed'] },
    { field: MODEL, isExcluded: false, values: ['a/b', 'c'] },
  ]);
});

it('excludes only where the field can', () => {
  expect(of('model.not=a&state.not=failed')).toEqual([{ field: MODEL, isExcluded: true, values: ['a'] }]);
});

it('replaces a filter, and keeps the rest', () => {
  const query = new URLSearchParams('from=-1h&model=a&model=b&state=failed');
  expect(withFilter(query, MODEL, ['c']).toString()).toBe('from=-1h&state=failed&model=c');
  expect(withFilter(query, MODEL, ['c'], true).toString()).toBe('from=-1h&state=failed&model.not=c');
  expect(withFilter(query, MODEL, []).toString()).toBe('from=-1h&state=failed');
});

it('says how field and values belong together', () => {
  const operators = ['model=a', 'model=a&model=b', 'model.not=a', 'model.not=a&model.not=b', 'min_cost=1'];
  expect(operators.map((query) => of(query).map(operatorOf)[0])).toEqual([
    'is',
    'is any of',
    'is not',
    'is none of',
    'at least',
  ]);
});
