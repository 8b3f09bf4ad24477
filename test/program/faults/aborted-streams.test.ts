import { describe, it } from 'vitest';
import { abortAndCompare } from './aborted-streams.ts';

describe('streams whose callers leave at random points', () => {
  it.each([
    ['acme', 'is told to stop'],
    ['groq', 'bills what it was asked for'],
  ])(
    'are each recorded once, and charged: an upstream (%s) that %s',
    (slug) => abortAndCompare(slug, 40),
    120_000,
  );
});
