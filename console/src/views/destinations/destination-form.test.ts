import { describe, expect, it } from 'vitest';
import type { DestinationObject } from '../../api/contract.ts';
import {
  createBody,
  destinationProblems,
  destinationValues,
  headersOf,
  updateBody,
} from './destination-form.ts';

const member = {
  description: '',
  kind: 'text',
  is_required: true,
  is_secret: false,
  default: null,
  values: null,
};
const type = {
  type: 'langfuse',
  label: 'Langfuse',
  members: [
    { ...member, name: 'secretKey', is_secret: true },
    { ...member, name: 'baseUrl', is_required: false, default: 'https://x.example' },
    { ...member, name: 'headers', kind: 'headers', is_required: false, is_secret: true },
  ],
} as Parameters<typeof destinationValues>[1] & object;
const fields = [
  { name: 'model', is_number: false, operators: [{ name: 'equals', needs_value: true }] },
  {
    name: 'total_cost',
    is_number: true,
    operators: [
      { name: 'gt', needs_value: true },
      { name: 'exists', needs_value: false },
    ],
  },
];
const stored = {
  id: 'd',
  type: 'langfuse',
  name: 'ours',
  workspace_id: 'w',
  config: { secretKey: 'sk-...1234', baseUrl: 'https://y.example', headers: { 'x-team': 'a...b' } },
  enabled: true,
  privacy_mode: true,
  sampling_rate: 0.29,
  api_key_hashes: null,
  filter_rules: {
    enabled: true,
    groups: [{ logic: 'and', rules: [{ field: 'total_cost', operator: 'gt', value: 0.5 }] }],
  },
  broadcast_generation_cost: false,
  broadcast_generation_identity: false,
  broadcast_generation_request_context: false,
} as unknown as DestinationObject;
const fresh = { ...destinationValues(null, type, 'w'), name: ' mine ', 'config.secretKey': 'sk-1' };

describe('destinationValues', () => {
  it('shows no secret, and a share as per cent', () => {
    const values = destinationValues(stored, type, '');
    expect(values).toMatchObject({
      'config.secretKey': '',
      'config.headers': '',
      'config.baseUrl': 'https://y.example',
      sampling_rate: '29',
      filter_rules: [{ logic: 'and', rules: [{ field: 'total_cost', operator: 'gt', value: '0.5' }] }],
    });
  });
});

describe('destinationProblems', () => {
  it('wants a name, a share, and the secrets of a new one', () => {
    expect(destinationProblems(fresh, type, true)).toEqual({});
    const empty = { ...fresh, name: '', sampling_rate: '0', 'config.secretKey': '' };
    expect(Object.keys(destinationProblems(empty, type, true)).sort()).toEqual([
      'config.secretKey',
      'name',
      'sampling_rate',
    ]);
    expect(destinationProblems({ ...empty, name: 'a', sampling_rate: '100' }, type, false)).toEqual({});
  });
});

describe('the bodies of requests', () => {
  it('has what was typed, and numbers where a field has numbers', () => {
    const groups = [
      {
        logic: 'or' as const,
        rules: [
          { field: 'total_cost', operator: 'gt', value: '2' },
          { field: 'total_cost', operator: 'exists', value: '2' },
          { field: 'total_cost', operator: 'gt', value: 'much' },
          { field: 'model', operator: 'equals', value: '4' },
        ],
      },
      { logic: 'and' as const, rules: [] },
    ];
    const values = { ...fresh, filter_rules: groups, 'config.headers': 'X-Team: a:b\n\nX-Empty' };
    expect(createBody(values, type, fields)).toEqual({
      type: 'langfuse',
      workspace_id: 'w',
      name: 'mine',
      config: {
        secretKey: 'sk-1',
        baseUrl: 'https://x.example',
        headers: { 'X-Team': 'a:b', 'X-Empty': '' },
      },
      privacy_mode: false,
      sampling_rate: 1,
      api_key_hashes: null,
      filter_rules: {
        enabled: true,
        groups: [
          {
            logic: 'or',
            rules: [
              { field: 'total_cost', operator: 'gt', value: 2 },
              { field: 'total_cost', operator: 'exists' },
              { field: 'total_cost', operator: 'gt', value: 'much' },
              { field: 'model', operator: 'equals', value: '4' },
            ],
          },
        ],
      },
      broadcast_generation_cost: false,
      broadcast_generation_identity: false,
      broadcast_generation_request_context: false,
    });
  });

  it('changes only what differs, and removes what was emptied', () => {
    const same = destinationValues(stored, type, '');
    expect(updateBody(same, type, fields, stored)).toEqual({});
    const changed = { ...same, 'config.baseUrl': '', 'config.secretKey': 'sk-2', filter_rules: [] };
    expect(updateBody(changed, type, fields, stored)).toEqual({
      config: { baseUrl: null, secretKey: 'sk-2' },
      filter_rules: null,
    });
  });
});

describe('headersOf', () => {
  it('splits at the first colon', () => {
    expect(headersOf(' a: b:c \n\nd')).toEqual({ a: 'b:c', d: '' });
  });
});
