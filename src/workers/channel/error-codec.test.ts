import { deserialize, serialize } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../ir/errors.ts';
import { LedgerUnavailable } from '../../ports/money/ledger.ts';
import { decodeError, encodeError } from './error-codec.ts';

const overTheWire = (error: unknown): Error => decodeError(deserialize(serialize(encodeError(error))));

describe('the codec of errors', () => {
  it('keeps everything that a caller sees of a GatewayError', () => {
    const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    const error = new GatewayError('overloaded', 'Service temporarily unavailable', {
      metadata: { limit_source: 'gateway' },
      retryAfterSeconds: 5,
      headers: { 'X-RateLimit-Limit': '3' },
      cause,
    });
    const again = overTheWire(error);
    expect(again).toBeInstanceOf(GatewayError);
    expect(again).toEqual(error);
    expect(again.cause).toMatchObject({ message: 'refused', code: 'ECONNREFUSED' });
  });

  it('keeps a GatewayError of a class of its own as a GatewayError', () => {
    class Special extends GatewayError {}
    expect(overTheWire(new Special('conflict', 'taken'))).toMatchObject({
      kind: 'conflict',
      message: 'taken',
    });
  });

  it('keeps LedgerUnavailable, by which admission answers 503', () => {
    const again = overTheWire(new LedgerUnavailable('the disk is full', new Error('ENOSPC')));
    expect(again).toBeInstanceOf(LedgerUnavailable);
    expect(again.message).toBe('the disk is full');
  });

  it('keeps name and message of other errors, and of things that are none', () => {
    expect(overTheWire(new RangeError('too far'))).toMatchObject({ name: 'RangeError', message: 'too far' });
    expect(overTheWire('text')).toMatchObject({ name: 'Error', message: 'text' });
  });

  it('ends a circle of causes', () => {
    const error = new Error('first');
    error.cause = error;
    let depth = 0;
    for (let each: unknown = overTheWire(error); each instanceof Error; each = each.cause) depth++;
    expect(depth).toBeLessThan(10);
  });
});
