import { expect, it } from 'vitest';
import type { EndpointStateObject, ProviderStateObject } from '../../api/contract.ts';
import { stateOfEndpoint, stateOfProvider } from './provider-words.ts';

const history = (calls: number, failures: number) => ({
  slot_seconds: 900,
  calls: [50, calls],
  failures: [0, failures],
});

const provider = (more: object) =>
  ({
    is_on: true,
    endpoints: 2,
    endpoints_out: 0,
    endpoints_limited: 0,
    endpoints_unstable: 0,
    history: null,
    ...more,
  }) as ProviderStateObject;

const endpoint = (more: object) =>
  ({ state: 'ok', cooldown: null, history: null, ...more }) as EndpointStateObject;

it('calls a provider serving only if its newest calls are answered', () => {
  expect(stateOfProvider(provider({}))).toEqual({ dot: 'ok', text: 'Serving' });
  expect(stateOfProvider(provider({ history: history(50, 3) }))).toEqual({ dot: 'ok', text: 'Serving' });
  expect(stateOfProvider(provider({ history: history(10, 9) }))).toEqual({
    dot: 'warn',
    text: '51 of 60 answered',
  });
  expect(stateOfProvider(provider({ history: history(150, 150) })).dot).toBe('bad');
  expect(stateOfProvider(provider({ history: history(150, 150), is_on: false })).dot).toBe('off');
  expect(stateOfProvider(provider({ endpoints_out: 1 })).dot).toBe('bad');
});

it('does the same for an endpoint, unless its state says more', () => {
  expect(stateOfEndpoint(endpoint({ history: history(60, 60) })).dot).toBe('bad');
  expect(stateOfEndpoint(endpoint({ history: history(60, 60), state: 'unstable' })).text).toBe('Unstable');
  expect(stateOfEndpoint(endpoint({})).text).toBe('Serving');
});
