import { expect, it } from 'vitest';
import { requestOf } from '../../../test/kit/builders/request.ts';
import type { Sampling } from '../../ir/settings.ts';
import { fitSampling } from './fit-sampling.ts';

function fitted(model: string, sampling: Sampling, more: object = {}, supported?: string[]) {
  const body = { temperature: sampling.temperature ?? null, top_p: sampling.topP ?? null };
  const endpoint = {
    modelId: 'acme/x',
    upstreamModel: model,
    supportedParameters: supported && new Set(supported),
  };
  const { request, report } = fitSampling(requestOf({ format: 'chat', sampling, body, ...more }), endpoint);
  return { sampling: request.sampling, report: report.map(({ field, action }) => `${field} ${action}`) };
}

const BOTH = { temperature: 0.5, topP: 0.9 };

it.each([
  'claude-opus-4-1-20250805',
  'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  'anthropic/claude-haiku-4.5',
  'claude-opus-4-6',
  'claude-sonnet-5',
  'claude-fable-5-1',
])('%s takes a temperature or top_p', (model) => {
  expect(fitted(model, BOTH)).toEqual({ sampling: { temperature: 0.5 }, report: ['top_p dropped'] });
  expect(fitted(model, BOTH, {}, ['temperature', 'top_p']).report).toEqual(['top_p dropped']);
  expect(fitted(model, { temperature: 1, topP: 0.9 })).toEqual({
    sampling: { topP: 0.9 },
    report: ['temperature dropped'],
  });
  expect(fitted(model, { topP: 0.9 }).report).toEqual([]);
});

it.each([
  'claude-opus-4-7',
  'claude-opus-5-20260601',
  'claude-sonnet-5-5',
  'claude-fable-5',
  'claude-opus-4.8',
])('%s takes neither', (model) => {
  expect(fitted(model, { ...BOTH, topK: 5, stop: ['x'] })).toEqual({
    sampling: { stop: ['x'] },
    report: ['temperature dropped', 'top_p dropped', 'top_k dropped'],
  });
  expect(fitted(model, { temperature: 1 }).report).toEqual([]);
  expect(fitted(model, { temperature: 0.5 }, {}, ['temperature']).report).toEqual([]);
});

it.each(['o1', 'o3-mini', 'openai/o4-mini-2025-04-16', 'gpt-5', 'gpt-5-mini', 'openai.gpt-5.2', 'gpt-6-sol'])(
  '%s takes no sampling settings',
  (model) => {
    expect(fitted(model, { ...BOTH, presencePenalty: 1, frequencyPenalty: 0, seed: 4 })).toEqual({
      sampling: { frequencyPenalty: 0, seed: 4 },
      report: ['temperature dropped', 'top_p dropped', 'presence_penalty dropped'],
    });
  },
);

it('takes them from models that need not think', () => {
  const none = { reasoning: { effort: 'none' } };
  expect(fitted('gpt-5.2', BOTH, none).report).toEqual([]);
  expect(fitted('gpt-5', BOTH, none).report).toHaveLength(2);
});

it.each([
  'claude-opus-4-20250514',
  'claude-3-5-sonnet-20241022',
  'claude-3-7-sonnet-latest',
  'claude-sonnet-4-20250514',
  'gpt-4o',
  'gpt-4.1',
  'gpt-5-chat-latest',
  'gpt-oss-120b',
  'llama-4',
  'qwen/qwen3-o3x',
])('%s takes all', (model) => {
  expect(fitted(model, { ...BOTH, topK: 5 }).report).toEqual([]);
});
