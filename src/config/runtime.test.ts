import { expect, it } from 'vitest';
import { readRuntime } from './runtime.ts';

it.each([
  ['::1', '::1'],
  ['[::1]', '::1'],
  ['[fe80::1%eth0]', 'fe80::1%eth0'],
  ['localhost', 'localhost'],
  ['[localhost]', '[localhost]'],
])('listens at %s as sockets write it', (typed, host) => {
  expect(readRuntime({ host: typed }, {}, '/srv', []).host).toBe(host);
  expect(readRuntime({}, { HOST: typed }, '/srv', []).host).toBe(host);
});
