import { describe, expect, it } from 'vitest';
import type { UpstreamErrorInfo } from '../dialect.ts';
import { readError } from './error.ts';

const quota = {
  code: 429,
  message: 'You exceeded your quota.',
  status: 'RESOURCE_EXHAUSTED',
  details: [
    { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [] },
    { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' },
  ],
};

const ROWS: readonly (readonly [string, unknown, UpstreamErrorInfo | undefined])[] = [
  [
    'a quota with its delay',
    { error: quota },
    { message: 'You exceeded your quota.', code: 'RESOURCE_EXHAUSTED', retryAfterSeconds: 34.4 },
  ],
  [
    'an error in a list, as a stream that breaks before it begins writes it',
    [{ error: { code: 400, message: 'Bad', status: 'INVALID_ARGUMENT' } }],
    { message: 'Bad', code: 'INVALID_ARGUMENT' },
  ],
  [
    'a key that is not valid, which comes with the status of a bad request',
    {
      error: {
        code: 400,
        message: 'API key not valid.',
        status: 'INVALID_ARGUMENT',
        details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }],
      },
    },
    { message: 'API key not valid.', code: 'API_KEY_INVALID' },
  ],
  ['a bare number', { error: { code: 500, message: 'x' } }, { message: 'x', code: '500' }],
  ['a sentence', { error: 'no' }, { message: 'no' }],
  ['a delay that is none', { error: { message: 'x', details: [{ retryDelay: '-1s' }] } }, { message: 'x' }],
  ['nothing', {}, undefined],
  ['no object', 'text', undefined],
  ['an empty list', [], undefined],
];

describe('error bodies', () => {
  it.each(ROWS)('%s', (_name, body, info) => {
    expect(readError(body)).toEqual(info);
  });
});
