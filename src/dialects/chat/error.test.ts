import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../ir/errors.ts';
import type { RoutingMetadata } from '../../ir/metadata.ts';
import { encodeError, readError } from './error.ts';

describe('errors to the caller', () => {
  it('have the envelope, the status as code and the type in the metadata', () => {
    const error = new GatewayError('rate-limited', 'Slow down', {
      metadata: { provider_name: 'Acme' },
      routing: { requested: 'a/b' } as RoutingMetadata,
    });
    expect(encodeError(error, { vendor: 'acme', generationId: null, userId: 'acc_1' })).toEqual({
      error: {
        code: 429,
        message: 'Slow down',
        metadata: { provider_name: 'Acme', error_type: 'rate_limit_exceeded' },
      },
      acme_metadata: { requested: 'a/b' },
      user_id: 'acc_1',
    });
  });

  it('have nothing else when nothing else is known', () => {
    const body = encodeError(new GatewayError('server', 'Internal Server Error'), {
      vendor: 'acme',
      generationId: null,
    });
    expect(Object.keys(body)).toEqual(['error']);
  });
});

describe('errors of upstreams', () => {
  it.each([
    [{ error: { message: 'No', type: 't', code: 'c' } }, { message: 'No', code: 'c' }],
    [{ error: { message: 'No', code: null, type: 't' } }, { message: 'No', code: 't' }],
    [{ error: 'No' }, { message: 'No' }],
    [
      { message: 'No', code: 400 },
      { message: 'No', code: '400' },
    ],
    [{ detail: 'No' }, { message: 'No' }],
    [{ detail: [{ loc: ['body'], msg: 'No' }] }, { message: 'No' }],
    [[{ error: { message: 'No', status: 'INVALID' } }], { message: 'No', code: 'INVALID' }],
    [{ error: { message: 'a\u0000b\n\nc' } }, { message: 'a b c' }],
    ['<!DOCTYPE html><html><body>Bad gateway</body></html>', { message: 'The provider sent an error page' }],
  ])('are read from %j', (body, info) => {
    expect(readError(body)).toEqual(info);
  });

  it('are not cut: a secret that is cut is not found any more', () => {
    const message = 'x'.repeat(10_000);
    expect(readError({ error: { message, code: message } })).toEqual({ message, code: message });
  });

  it.each([[{}], [null], [''], [5], [[]], [{ id: 'x', status: 'completed' }]])(
    'are not seen in %j',
    (body) => {
      expect(readError(body)).toBeUndefined();
    },
  );
});
