import { describe, expect, it } from 'vitest';
import { isDone, startStateOf } from './start-state.ts';

describe('startStateOf', () => {
  it('knows requests of the console by their request id, and providers by their models', () => {
    expect(startStateOf([], ['simulator/standard'])).toEqual({
      isAsked: false,
      hasProvider: false,
      hasClient: false,
    });
    const asked = startStateOf([{ request_id: 'console' }], ['simulator/standard', 'acme/large']);
    expect(asked).toEqual({ isAsked: true, hasProvider: true, hasClient: false });
    expect(isDone(asked)).toBe(false);
    expect(isDone(startStateOf([{ request_id: 'console' }, { request_id: null }], ['acme/large']))).toBe(
      true,
    );
  });
});
