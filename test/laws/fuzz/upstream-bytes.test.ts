import { expect, it } from 'vitest';
import { runs } from '../../kit/builders/runs.ts';
import { fuzzUpstreamBytes } from './upstream-bytes.ts';

it('reads damaged upstream streams to exactly one end, without throwing', () => {
  const { terminals } = fuzzUpstreamBytes(runs(1000, 3000), 42);
  expect(Object.keys(terminals).sort()).toEqual(['failure', 'finish']);
});
