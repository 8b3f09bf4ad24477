import { describe, expect, it } from 'vitest';
import { endpointOf, modelOf } from '../../../test/kit/builders/catalog.ts';
import { requestOf } from '../../../test/kit/builders/request.ts';
import { planned, routeOf } from '../../../test/kit/builders/route.ts';
import type { Endpoint } from '../../catalog/catalog.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { planRoute } from '../plan-route.ts';

describe('weighty parameters', () => {
  const tools = [{ type: 'function', name: 'weather' }] as const;
  const taking = (tag: string, ...names: string[]) =>
    endpointOf({ tag, supportedParameters: new Set(names) });
  const cases: [string, Endpoint[], Partial<GenerationRequest>, string[]][] = [
    ['who takes tools is preferred', [taking('a'), taking('b', 'tools')], { tools }, ['b']],
    ['who takes everything takes them', [taking('a'), endpointOf({ tag: 'b' })], { tools }, ['b']],
    ['if no candidate takes them, all stay', [taking('a'), taking('b')], { tools }, ['a', 'b']],
    ['any JSON', [taking('a'), taking('b', 'response_format')], { outputFormat: { type: 'json' } }, ['b']],
    [
      'a schema',
      [taking('a', 'response_format'), taking('b', 'structured_outputs')],
      { outputFormat: { type: 'json-schema', name: 'x', schema: {} } },
      ['b'],
    ],
    ['verbosity', [taking('a'), taking('b', 'verbosity')], { verbosity: 'low' }, ['b']],
    [
      'one after the other',
      [taking('a', 'verbosity'), taking('b', 'tools')],
      { tools, verbosity: 'low' },
      ['b'],
    ],
    [
      'other parameters are dropped instead',
      [taking('a'), taking('b', 'seed')],
      { sampling: { seed: 1 } },
      ['a', 'b'],
    ],
  ];
  it.each(cases)('%s', (_, endpoints, changes, tags) => {
    expect(planned(endpoints, { request: requestOf(changes) })).toEqual(tags);
  });

  it('are a reason', () => {
    const endpoints = [taking('a'), taking('b', 'tools')];
    const plan = planRoute(routeOf([modelOf({ endpoints })], { request: requestOf({ tools }) }));
    expect(plan.rejected).toEqual([
      {
        endpoint: endpoints[0],
        filter: 'supported_parameters',
        reason: 'does not support tools, others of the model do',
      },
    ]);
  });
});
