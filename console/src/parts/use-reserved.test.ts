import { expect, it } from 'vitest';
import type { RunningGenerationObject } from '../api/contract.ts';
import { reservedOf } from './use-reserved.ts';

it('sums what is held for a key, and for all keys of a workspace', () => {
  const running = [
    { key_hash: 'a', workspace_id: 'w', reserved: 0.5 },
    { key_hash: 'b', workspace_id: 'w', reserved: 0.25 },
    { key_hash: 'c', workspace_id: 'x', reserved: 8 },
  ] as RunningGenerationObject[];
  expect(reservedOf(running, { key: 'b' })).toBe(0.25);
  expect(reservedOf(running, { workspace: 'w' })).toBe(0.75);
  expect(reservedOf(running, { workspace: 'none' })).toBe(0);
});
