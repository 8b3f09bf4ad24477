import { describe, expect, it } from 'vitest';
import type { Catalog } from '../../catalog/catalog.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { largestContext } from './context-length.ts';

/** Contexts of the endpoints of each model. */
const CONTEXTS: Record<string, (number | undefined)[]> = {
  'a/small': [1000, 4000],
  'a/large': [9000],
  'a/unknown': [1000, undefined],
  'a/unserved': [],
};

const catalog = {
  resolve: (id: string) => {
    const contexts = CONTEXTS[id];
    return contexts && { endpoints: contexts.map((contextLength) => ({ contextLength })) };
  },
} as unknown as Catalog;

describe('the largest context of the models of a request', () => {
  it.each<[string, string[], number]>([
    ['that of the endpoint that has most', ['a/small'], 4000],
    ['that of the model that has most', ['a/small', 'a/large'], 9000],
    ['that of a model with a suffix', ['a/small:nitro'], 4000],
    ['not known of one endpoint', ['a/unknown'], Number.POSITIVE_INFINITY],
    ['not known of a model without an endpoint', ['a/large', 'a/unserved'], Number.POSITIVE_INFINITY],
    ['not known of what stands for a choice', ['a/large', 'signalbox/auto'], Number.POSITIVE_INFINITY],
    ['not known of no model', [], Number.POSITIVE_INFINITY],
  ])('%s', (_, models, most) => {
    expect(largestContext({ models } as unknown as GenerationRequest, catalog)).toBe(most);
  });
});
