import { describe, expect, it } from 'vitest';
import { requestOf } from '../../../test/kit/builders/request.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { fitOutput } from './fit-output.ts';

const request = (fields: Partial<GenerationRequest>) => requestOf({ format: 'chat', body: {}, ...fields });

const anything = { supportedParameters: undefined };

describe('an output limit that is paid for', () => {
  it.each([
    ['nothing binds', request({ requestedOutputTokens: 50, body: { max_tokens: 50 } }), undefined],
    ['the limit is lower already', request({ requestedOutputTokens: 50, body: { max_tokens: 50 } }), 60],
  ])('leaves the request as it is where %s', (_, given, most) => {
    expect(fitOutput(given, most, anything)).toEqual({ request: given, report: [] });
  });

  it.each([
    ['responses', { max_output_tokens: 500 }, { max_output_tokens: 60 }],
    ['messages', { max_tokens: 500 }, { max_tokens: 60 }],
    ['chat', { max_tokens: 500 }, { max_tokens: 60 }],
    ['chat', { max_completion_tokens: 500 }, { max_completion_tokens: 60 }],
    ['chat', { max_completion_tokens: 500, max_tokens: 900 }, { max_completion_tokens: 60, max_tokens: 60 }],
  ] as const)('lowers that of %s %j', (format, body, becomes) => {
    const fitted = fitOutput(request({ format, body, requestedOutputTokens: 500 }), 60, anything);
    expect(fitted.request).toMatchObject({ requestedOutputTokens: 60, body: becomes });
    expect(Object.keys(fitted.request.body)).toEqual(Object.keys(body));
    expect(fitted.report).toEqual([
      expect.objectContaining({ action: 'coerced', detail: expect.stringContaining('lowered to 60') }),
    ]);
  });

  it.each([
    ['responses', undefined, 'max_output_tokens'],
    ['messages', undefined, 'max_tokens'],
    ['chat', undefined, 'max_tokens'],
    ['chat', new Set(['max_completion_tokens']), 'max_completion_tokens'],
    ['chat', new Set(['max_completion_tokens', 'max_tokens']), 'max_tokens'],
  ] as const)('sets one of %s that has none, endpoint taking %j', (format, taken, member) => {
    const fitted = fitOutput(request({ format }), 60, { supportedParameters: taken });
    expect(fitted.request).toMatchObject({ requestedOutputTokens: 60, body: { [member]: 60 } });
    expect(fitted.report[0]).toMatchObject({
      field: member,
      detail: expect.stringContaining('set to 60'),
    });
  });
});
