import { describe, expect, it } from 'vitest';
import { readError } from './error.ts';

describe('an error body', () => {
  it.each<[unknown, unknown]>([
    [{ message: 'Too many tokens' }, { message: 'Too many tokens' }],
    [{ Message: 'Missing Authentication Token' }, { message: 'Missing Authentication Token' }],
    [{ message: '', Message: 'B' }, { message: 'B' }],
    [
      { __type: 'com.amazon.coral.service#ThrottlingException:http://internal/', message: 'Slow' },
      { message: 'Slow', code: 'ThrottlingException' },
    ],
    [
      { __type: 'ValidationException', message: ' a b ' },
      { message: 'a b', code: 'ValidationException' },
    ],
    [{ message: { toString: 1 } }, undefined],
    [{ __type: 'X' }, undefined],
    ['text', undefined],
    [null, undefined],
    [[], undefined],
  ])('%j says %j', (body, info) => {
    expect(readError(body)).toEqual(info);
  });

  it('has its type in a header where it does not say it', () => {
    const headers = { 'x-amzn-errortype': 'ThrottlingException:http://internal/coral/' };
    expect(readError({ message: 'Slow' }, headers)).toEqual({ message: 'Slow', code: 'ThrottlingException' });
    expect(readError({ message: 'Slow', __type: 'Own' }, headers)?.code).toBe('Own');
  });
});
