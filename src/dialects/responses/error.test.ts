import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../ir/errors.ts';
import { encodeError, readError } from './error.ts';

describe('encodeError', () => {
  it('writes the envelope', () => {
    const error = new GatewayError('not-found', 'No such thing', { metadata: { provider_name: 'Acme' } });
    expect(encodeError(error, { vendor: 'acme', generationId: null, userId: 'acc-1' })).toEqual({
      error: {
        code: 404,
        message: 'No such thing',
        metadata: { provider_name: 'Acme', error_type: 'not_found' },
      },
      user_id: 'acc-1',
    });
  });

  it('shows routing context under the operator’s name', () => {
    const routing = { requested: 'm', attempt: 0 } as never;
    const error = new GatewayError('upstream-unavailable', 'x', { routing });
    expect(encodeError(error, { vendor: 'acme', generationId: 'gen-1' })).toMatchObject({
      acme_metadata: routing,
    });
  });
});

describe('readError', () => {
  it.each([
    [{ error: { message: 'a', code: 'b' } }, { message: 'a', code: 'b' }],
    [{ error: { message: 'a', type: 't', code: null } }, { message: 'a', code: 't' }],
    [{ error: 'plain' }, { message: 'plain' }],
    [{ detail: 'Not Found' }, { message: 'Not Found' }],
    [
      { message: 'm', code: 'c' },
      { message: 'm', code: 'c' },
    ],
    [{}, undefined],
    ['<html>', undefined],
    [null, undefined],
  ])('reads %j', (body, expected) => {
    expect(readError(body)).toEqual(expected);
  });

  it('cuts nothing: a secret that is cut is not found any more', () => {
    const message = 'x'.repeat(10_000);
    expect(readError({ error: { message, code: message } })).toEqual({ message, code: message });
  });
});
