import { describe, expect, it } from 'vitest';
import { requestOf } from '../../../test/kit/builders/request.ts';
import type { ReasoningFacts } from '../../catalog/catalog.ts';
import type { EffortWord } from '../../catalog/entries.ts';
import type { Format } from '../../ir/items.ts';
import type { ReasoningSettings } from '../../ir/settings.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { effortPath, fitReasoning, nearestEffort } from './fit-reasoning.ts';

const WORDS: ReasoningFacts = {
  mandatory: true,
  supportedEfforts: ['low', 'medium', 'high'],
  takesBudget: false,
};

function fitted(format: Format, body: JsonObject, reasoning: ReasoningSettings, facts = WORDS) {
  return fitReasoning(requestOf({ format, body, reasoning }), facts);
}

describe('fitReasoning', () => {
  it.each<[string, Format, JsonObject, ReasoningSettings, JsonObject, ReasoningSettings, string]>([
    [
      'an effort that is too high',
      'responses',
      { reasoning: { effort: 'xhigh', summary: 'auto' } },
      { effort: 'xhigh', summary: 'auto' },
      { reasoning: { effort: 'high', summary: 'auto' } },
      { effort: 'high', summary: 'auto' },
      'reasoning.effort: the model has no effort xhigh: high is sent',
    ],
    [
      'the short form of chat',
      'chat',
      { reasoning_effort: 'minimal' },
      { effort: 'minimal' },
      { reasoning_effort: 'low' },
      { effort: 'low' },
      'reasoning_effort: the model has no effort minimal: low is sent',
    ],
    [
      'the effort of the messages format, and the thinking beside it stays',
      'messages',
      { thinking: { type: 'adaptive' }, output_config: { effort: 'max' } },
      { adaptive: true, effort: 'max' },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
      { adaptive: true, effort: 'high' },
      'output_config.effort: the model has no effort max: high is sent',
    ],
    [
      'a small budget, where there are only words',
      'messages',
      { thinking: { type: 'enabled', budget_tokens: 1024 }, max_tokens: 32_000 },
      { enabled: true, budgetTokens: 1024 },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'low' }, max_tokens: 32_000 },
      { adaptive: true, effort: 'low' },
      'thinking.budget_tokens: the model takes no budget in tokens: effort low is sent',
    ],
    [
      'thinking switched off, where it cannot be',
      'responses',
      { reasoning: { enabled: false } },
      { enabled: false },
      { reasoning: { effort: 'low' } },
      { effort: 'low', exclude: true },
      'reasoning.enabled: the model always thinks: effort low is sent',
    ],
    [
      'the same in the messages format',
      'messages',
      { thinking: { type: 'disabled' } },
      { enabled: false },
      { thinking: null, output_config: { effort: 'low' } },
      { effort: 'low', exclude: true },
      'thinking.type: the model always thinks: effort low is sent',
    ],
  ])('changes %s', (_, format, body, settings, sentBody, sentSettings, entry) => {
    const { request, report } = fitted(format, body, settings);
    expect(request.body).toEqual(sentBody);
    expect(request.reasoning).toEqual(sentSettings);
    expect(report.map(({ field, action, detail }) => [action, `${field}: ${detail}`])).toEqual([
      ['coerced', entry],
    ]);
  });

  it.each<[string, Format, JsonObject, ReasoningSettings, JsonObject, ReasoningSettings, string[]]>([
    [
      'an effort',
      'messages',
      { thinking: { type: 'enabled', budget_tokens: 2000 }, output_config: { effort: 'high' } },
      { enabled: true, budgetTokens: 2000, effort: 'high' },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
      { adaptive: true, effort: 'high' },
      ['thinking.budget_tokens dropped'],
    ],
    [
      'an effort that the model does not have',
      'messages',
      {
        thinking: { type: 'enabled', budget_tokens: 2000, display: 'omitted' },
        output_config: { effort: 'max' },
      },
      { enabled: true, budgetTokens: 2000, effort: 'max', display: 'omitted' },
      { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'high' } },
      { adaptive: true, effort: 'high', display: 'omitted' },
      ['thinking.budget_tokens dropped', 'output_config.effort coerced'],
    ],
    [
      'an effort in the short form',
      'chat',
      { reasoning_effort: 'low', reasoning: { max_tokens: 2000 } },
      { effort: 'low', budgetTokens: 2000 },
      { reasoning_effort: 'low', reasoning: null },
      { effort: 'low' },
      ['reasoning.max_tokens dropped'],
    ],
    [
      'the wish not to think',
      'chat',
      { reasoning: { enabled: false, max_tokens: 2000 } },
      { enabled: false, budgetTokens: 2000 },
      { reasoning: { effort: 'low' } },
      { effort: 'low', exclude: true },
      ['reasoning.max_tokens dropped', 'reasoning.enabled coerced'],
    ],
  ])('drops a budget beside %s', (_, format, body, settings, sentBody, sentSettings, entries) => {
    const { request, report } = fitted(format, body, settings);
    expect(request.body).toEqual(sentBody);
    expect(request.reasoning).toEqual(sentSettings);
    expect(report.map(({ field, action }) => `${field} ${action}`)).toEqual(entries);
  });

  it.each<[string, ReasoningSettings, ReasoningFacts | undefined]>([
    ['of which nothing is known', { effort: 'max' }, undefined],
    ['whose efforts are not known', { effort: 'max' }, { mandatory: false }],
    ['that has the effort', { effort: 'medium' }, WORDS],
    ['that can be switched off', { effort: 'none' }, { ...WORDS, mandatory: false }],
    ['that takes budgets', { budgetTokens: 1024 }, { ...WORDS, takesBudget: true }],
    ['that is not asked to think', { summary: 'auto' }, WORDS],
  ])('leaves the setting of a model %s unchanged', (_, reasoning, facts) => {
    const request = requestOf({ reasoning, body: { reasoning: { effort: 'x' } } });
    const result = fitReasoning(request, facts);
    expect(result.request).toBe(request);
    expect(result.report).toEqual([]);
  });

  it('has no effort below low by default', () => {
    const { request } = fitted('responses', {}, { effort: 'none' }, { mandatory: true });
    expect(request.reasoning?.effort).toBe('low');
  });
});

describe('nearestEffort', () => {
  it.each<[EffortWord, EffortWord[], EffortWord]>([
    ['max', ['low', 'high'], 'high'],
    ['medium', ['low', 'high'], 'high'],
    ['minimal', ['high', 'max'], 'high'],
    ['xhigh', ['high', 'max'], 'max'],
    ['low', ['minimal', 'high'], 'minimal'],
  ])('%s of %j', (asked, supported, nearest) => {
    expect(nearestEffort(asked, supported)).toBe(nearest);
  });
});

describe('effortPath', () => {
  it.each<[Format, JsonObject, ReasoningSettings, string]>([
    ['responses', { reasoning: { effort: 'none' } }, { effort: 'none' }, 'reasoning.effort'],
    ['responses', { reasoning: { enabled: false } }, { enabled: false }, 'reasoning.enabled'],
    ['chat', { reasoning_effort: 'none' }, { effort: 'none' }, 'reasoning_effort'],
    [
      'chat',
      { reasoning_effort: 'low', reasoning: { effort: 'none' } },
      { effort: 'none' },
      'reasoning.effort',
    ],
  ])('%s %j', (format, body, reasoning, path) => {
    expect(effortPath(requestOf({ format, body, reasoning }))).toBe(path);
  });
});
