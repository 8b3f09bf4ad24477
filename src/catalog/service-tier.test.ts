import { expect, it } from 'vitest';
import { endpointOf, modelOf } from '../../test/kit/builders/catalog.ts';
import { servedEndpoint } from './service-tier.ts';

const standard = endpointOf();
const { provider } = standard;
const priority = endpointOf({ provider, tag: 'acme/priority' });
const other = endpointOf({ provider, tag: 'acme/flex', upstreamModel: 'another' });
const model = modelOf({ endpoints: [standard, priority, other] });

it.each([
  ['the called one, if no tier is reported', priority, undefined, priority],
  ['the called one, if it served', priority, 'priority', priority],
  ['the standard one, if the tier was not available', priority, 'default', standard],
  ['the more expensive one, if the upstream chose it', standard, 'priority', priority],
  ['the called one, if the model has no other of that tier', standard, 'flex', standard],
  ['the called one, if the tier is unknown', standard, 'batch', standard],
] as const)('is %s', (_, called, served, expected) => {
  expect(servedEndpoint(called, model, served)).toBe(expected);
});
