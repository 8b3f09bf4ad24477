import { describe, expect, it } from 'vitest';
import { requestOf } from '../../../test/kit/builders/request.ts';
import type { Workspace } from '../../ports/tenancy/tenancy.ts';
import { withDefaultModel, withDefaultSort } from './workspace-defaults.ts';

const workspace = (fields: Partial<Workspace>) =>
  ({ defaultTextModel: null, defaultProviderSort: null, ...fields }) as Workspace;

describe('defaults of a workspace', () => {
  it.each([
    [{}, { model: 'acme/large' }],
    [{ model: null }, { model: 'acme/large' }],
    [{ model: 'm/one' }, { model: 'm/one' }],
    [{ models: ['m/one'] }, { models: ['m/one'] }],
  ])('name a model for %j', (body, becomes) => {
    expect(withDefaultModel(body, workspace({ defaultTextModel: 'acme/large' }))).toEqual(becomes);
    expect(withDefaultModel(body, workspace({}))).toBe(body);
  });

  it.each([
    [{}, { sort: 'latency' }],
    [{ sort: 'price' }, { sort: 'price' }],
    [{ order: ['acme'] }, { order: ['acme'] }],
  ])('sort endpoints for %j', (provider, becomes) => {
    const request = requestOf({ wishes: { provider, plugins: [] } });
    const sorted = withDefaultSort(request, workspace({ defaultProviderSort: 'latency' }));
    expect(sorted.wishes.provider).toEqual(becomes);
    expect(withDefaultSort(request, workspace({}))).toBe(request);
  });
});
