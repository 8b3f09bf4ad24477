import { expect, it } from 'vitest';
import { contextLengthBucketOf } from './event-names.ts';

it.each([
  [0, '1K'],
  [1_000, '1K'],
  [1_001, '10K'],
  [100_000, '100K'],
  [1_000_001, '10M'],
  [20_000_000, '10M'],
])('puts a prompt of %i tokens into %s', (tokens, bucket) => {
  expect(contextLengthBucketOf(tokens)).toBe(bucket);
});
