import { afterEach, expect, it } from 'vitest';
import { usePlainGlobals } from './plain-globals.ts';

const before = Object.getOwnPropertyDescriptors(globalThis);

// Other tests share this process.
afterEach(() => {
  for (const name of ['AbortController', 'AbortSignal', 'Buffer', 'performance', 'process'] as const)
    Object.defineProperty(globalThis, name, before[name]);
});

it('makes values of globals that are asked for each time, and the same ones', () => {
  const lazy = { get: () => made, set: () => {}, configurable: true };
  const made = performance;
  const { Buffer: bytes } = globalThis;
  Object.defineProperty(globalThis, 'performance', lazy);
  usePlainGlobals();
  expect(Object.getOwnPropertyDescriptor(globalThis, 'performance')).toEqual({
    value: made,
    writable: true,
    configurable: true,
    enumerable: false,
  });
  expect(Buffer).toBe(bytes);
});
