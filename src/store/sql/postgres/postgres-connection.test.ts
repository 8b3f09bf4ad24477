import { describe, expect, it } from 'vitest';
import { withWritableStack } from './postgres-connection.ts';

/** What the driver makes of an error, in Node 22 and later. */
function fixed(error: Error): Error {
  return Object.defineProperty(error, 'stack', { value: 'as the driver wrote it', writable: false });
}

describe('the stack of an error of the driver', () => {
  it('becomes writable and keeps its text', () => {
    const error = withWritableStack(fixed(new Error('no'))) as Error;
    expect(error.stack).toBe('as the driver wrote it');
    error.stack += ' and more';
    expect(error.stack).toBe('as the driver wrote it and more');
  });

  it('is left as it is if it is writable', () => {
    const error = new Error('no');
    const before = error.stack;
    expect((withWritableStack(error) as Error).stack).toBe(before);
    expect(withWritableStack('no error')).toBe('no error');
  });
});
