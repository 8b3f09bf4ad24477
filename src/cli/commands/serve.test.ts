import { afterEach, describe, expect, it } from 'vitest';
import { definePlainGlobals, growthOf } from './serve.ts';

const MIB = 1024 * 1024;

describe('the growth that a heap is allowed', () => {
  it.each([
    [10, 100],
    [32, 100],
    [64, 50],
    [107, 30],
    [2000, 20],
  ])('%i MiB: %i percent', (live, percent) => {
    expect(growthOf(live * MIB)).toBe(percent);
  });
});

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
  definePlainGlobals();
  expect(Object.getOwnPropertyDescriptor(globalThis, 'performance')).toEqual({
    value: made,
    writable: true,
    configurable: true,
    enumerable: false,
  });
  expect(Buffer).toBe(bytes);
});
