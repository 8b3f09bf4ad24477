import { expect, it } from 'vitest';
import { endpointOf, modelOf } from '../../test/builders/catalog.ts';
import { servedEndpoint } from './served-endpoint.ts';

const standard = endpointOf();
const { provider } = standard;
const priority = endpointOf({ provider, tag: 'acme/priority' });
const other = endpointOf({ provider, tag: 'acme/flex', upstreamModel: 'another' });
const model = modelOf({ endpoints: [standard, priority, other] });

it.each([
  ['the called one, if no tier is reported', priority, undefined, priority],
  ['what was called, when that is what was served', priority, 'priority', priority],
  ['the standard one, when the tier was not to be had', priority, 'default', standard],
  ['the dearer one, when the upstream chose it', standard, 'priority', priority],
  ['what was called, when there is no other of that tier for the same model', standard, 'flex', standard],
  ['what was called, when the word is unknown', standard, 'batch', standard],
] as const)('is %s', (_, called, served, expected) => {
  expect(servedEndpoint(called, model, served)).toBe(expected);
});
