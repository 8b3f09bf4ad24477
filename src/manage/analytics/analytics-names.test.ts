import { describe, expect, it } from 'vitest';
import { ANALYTICS_DIMENSIONS, analyticsMeta, analyticsNames, METRIC_DAYS } from './analytics-names.ts';

/** Every metric of the contract: its format, and the longest range that it allows, days. */
const METRICS_OF_THE_CONTRACT: Record<string, readonly [format: string, days: number]> = {
  request_count: ['number', 365],
  tokens_total: ['number', 365],
  tokens_prompt: ['number', 365],
  tokens_completion: ['number', 365],
  reasoning_tokens: ['number', 365],
  cached_tokens: ['number', 365],
  byok_request_count: ['number', 365],
  guardrail_invoked_count: ['number', 31],
  response_cached_count: ['number', 31],
  // Ours: the contract knows no refused requests.
  refused_count: ['number', 31],
  total_usage: ['currency', 365],
  byok_usage: ['currency', 365],
  credits_usage: ['currency', 365],
  acme_usage: ['currency', 31],
  byok_fees: ['currency', 31],
  usage_upstream: ['currency', 365],
  usage_cache: ['currency', 365],
  usage_data: ['currency', 365],
  usage_web: ['currency', 365],
  usage_upstream_web: ['currency', 365],
  usage_file: ['currency', 31],
  usage_upstream_file: ['currency', 31],
  usage_web_fetch: ['currency', 31],
  usage_upstream_web_fetch: ['currency', 31],
  avg_latency: ['latency', 31],
  p50_latency: ['latency', 31],
  p90_latency: ['latency', 31],
  p99_latency: ['latency', 31],
  avg_throughput: ['throughput', 31],
  p50_throughput: ['throughput', 31],
  p90_throughput: ['throughput', 31],
  p99_throughput: ['throughput', 31],
  cache_hit_rate: ['percent', 365],
  guardrail_invoked_rate: ['percent', 31],
  response_cached_rate: ['percent', 31],
};

const DIMENSIONS_OF_THE_CONTRACT = {
  model: 365,
  variant: 365,
  api_key_id: 365,
  user: 365,
  workspace: 365,
  app: 365,
  generation_id: 31,
  provider: 31,
  origin: 31,
  country: 31,
  finish_reason: 31,
  external_user: 31,
  context_length_bucket: 31,
};

const RATES = ['latency', 'throughput', 'percent'];

describe('the names of analytics', () => {
  const meta = analyticsMeta('acme');

  it('are the metrics of the contract, one of them after the vendor', () => {
    const shown = meta.metrics.map(({ name, display_format, is_rate }) => ({
      name,
      display_format,
      is_rate,
    }));
    expect(shown).toEqual(
      Object.entries(METRICS_OF_THE_CONTRACT).map(([name, [format]]) => ({
        name,
        display_format: format,
        is_rate: RATES.includes(format),
      })),
    );
    expect(analyticsNames('acme').metrics).toEqual(Object.keys(METRICS_OF_THE_CONTRACT));
  });

  it('allow the ranges of the contract', () => {
    expect(Object.values(METRIC_DAYS)).toEqual(
      Object.values(METRICS_OF_THE_CONTRACT).map(([, longest]) => longest),
    );
    const dimensions = Object.entries(ANALYTICS_DIMENSIONS).map(([name, rules]) => [name, rules.longestDays]);
    expect(dimensions).toEqual(Object.entries(DIMENSIONS_OF_THE_CONTRACT));
  });

  it('are the dimensions, operators and granularities of the contract', () => {
    expect(meta.dimensions.map(({ name }) => name)).toEqual(Object.keys(DIMENSIONS_OF_THE_CONTRACT));
    expect(meta.operators).toEqual(
      ['eq', 'neq', 'in', 'not_in', 'gt', 'gte', 'lt', 'lte'].map((name) => ({
        name,
        value_type: name.endsWith('in') ? 'array' : 'scalar',
      })),
    );
    expect(meta.granularities).toEqual(
      ['Minute', 'Hour', 'Day', 'Week', 'Month'].map((display_label) => ({
        name: display_label.toLowerCase(),
        display_label,
      })),
    );
  });

  it('have labels for people', () => {
    const labels = meta.metrics.map(({ display_label }) => display_label);
    expect(labels).toEqual(expect.arrayContaining(['Request Count', 'Acme Usage', 'P50 Latency']));
    expect(meta.dimensions[0]).toEqual({ name: 'model', display_label: 'Model' });
  });
});
