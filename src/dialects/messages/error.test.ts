import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../ir/errors.ts';
import { encodeError, readError } from './error.ts';

describe('errors of the messages dialect', () => {
  it('are what clients of the format and of the gateway read, in one body', () => {
    const error = new GatewayError('rate-limited', 'slow down', { metadata: { provider_name: 'Acme' } });
    expect(encodeError(error, { vendor: 'acme', generationId: 'gen-1-a', userId: 'account' })).toEqual({
      type: 'error',
      error: {
        type: 'rate_limit_error',
        code: 429,
        message: 'slow down',
        metadata: { provider_name: 'Acme', error_type: 'rate_limit_exceeded' },
        error_type: 'rate_limit_exceeded',
      },
      request_id: 'gen-1-a',
      user_id: 'account',
    });
  });

  it.each([
    [
      { type: 'error', error: { type: 'api_error', message: 'x' } },
      { message: 'x', code: 'api_error' },
    ],
    [{ error: { message: 'a\n b\u0000c', code: 'c1' } }, { message: 'a b c', code: 'c1' }],
    [{ message: 'plain' }, { message: 'plain' }],
    [{ error: 'text' }, { message: 'text' }],
    [{ error: { message: '<!DOCTYPE html><p>oops' } }, { message: 'The provider sent an error page' }],
    [{ error: {} }, undefined],
    ['text', undefined],
    [null, undefined],
  ])('reads %j', (body, said) => {
    expect(readError(body)).toEqual(said);
  });

  it('cuts nothing: a secret that is cut is not found any more', () => {
    const message = 'x'.repeat(10_000);
    expect(readError({ error: { message, code: message } })).toEqual({ message, code: message });
  });
});
