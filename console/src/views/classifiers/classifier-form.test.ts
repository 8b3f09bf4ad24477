import { expect, it } from 'vitest';
import type { ClassifierObject } from '../../api/contract.ts';
import { classifierProblems, classifierValues, createBody, updateBody } from './classifier-form.ts';

const stored: ClassifierObject = {
  id: 'c',
  workspace_id: 'w',
  name: 'support',
  description: null,
  is_active: true,
  model: 'acme/small',
  dimensions: [
    {
      name: 'mood',
      description: 'How the writer feels',
      values: [
        { value: 'calm', description: null },
        { value: 'angry', description: 'with: colons' },
      ],
    },
  ],
  sampling_rate: 0.29,
  monthly_budget_usd: 5,
  used_usd: 1,
  state: null,
  last_problem: null,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  managed_by: null,
};

it('shows what is stored, and changes nothing that was not touched', () => {
  const values = classifierValues(stored, 'other');
  expect(values).toMatchObject({
    workspace_id: 'w',
    sampling_rate: '29',
    monthly_budget_usd: '5.00',
    dimensions: [{ name: 'mood', values: 'calm\nangry: with: colons' }],
  });
  expect(classifierProblems(values)).toEqual({});
  expect(updateBody(values, stored)).toEqual({});
});

it('sends what differs alone', () => {
  const values = classifierValues(stored, '');
  expect(updateBody({ ...values, sampling_rate: '50', monthly_budget_usd: '' }, stored)).toEqual({
    sampling_rate: 0.5,
    monthly_budget_usd: null,
  });
  const [mood] = values.dimensions;
  if (mood === undefined) throw new Error('no dimension');
  expect(updateBody({ ...values, dimensions: [{ ...mood, values: 'calm\n\nsad' }] }, stored)).toEqual({
    dimensions: [
      { name: 'mood', description: 'How the writer feels', values: [{ value: 'calm' }, { value: 'sad' }] },
    ],
  });
});

it('makes a new one of what was typed', () => {
  const dimensions = [{ name: ' topic ', description: '', values: 'bill: about money\nother' }];
  const values = { ...classifierValues(null, 'w'), name: ' n ', model: 'm', dimensions };
  expect(createBody(values)).toEqual({
    workspace_id: 'w',
    name: 'n',
    description: null,
    model: 'm',
    dimensions: [
      { name: 'topic', values: [{ value: 'bill', description: 'about money' }, { value: 'other' }] },
    ],
    sampling_rate: 1,
    monthly_budget_usd: null,
  });
});

it('says what is missing or wrong', () => {
  const values = { ...classifierValues(null, 'w'), sampling_rate: '101', monthly_budget_usd: '0' };
  expect(Object.keys(classifierProblems(values))).toEqual([
    'name',
    'model',
    'dimensions',
    'sampling_rate',
    'monthly_budget_usd',
  ]);
});
