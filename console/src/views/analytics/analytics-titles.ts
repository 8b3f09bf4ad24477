/** Metrics and dimensions as the other views call them. The name of the API stands in the question beside the chart. */
const TITLES: Readonly<Record<string, string>> = {
  request_count: 'Requests',
  tokens_total: 'Tokens',
  tokens_prompt: 'Prompt tokens',
  tokens_completion: 'Completion tokens',
  byok_request_count: 'Requests on own provider keys',
  guardrail_invoked_count: 'Requests a guardrail acted on',
  response_cached_count: 'Answers from the cache',
  refused_count: 'Refused requests',
  total_usage: 'Spend',
  byok_usage: 'Spend on own provider keys',
  credits_usage: 'Spend of credits',
  byok_fees: 'Fees for own provider keys',
  usage_upstream: 'Upstream list price',
  usage_cache: 'Saved by caching',
  usage_web: 'Web searches',
  usage_upstream_web: 'Web searches at list price',
  avg_latency: 'First token, average',
  p50_latency: 'First token p50',
  p90_latency: 'First token p90',
  p99_latency: 'First token p99',
  avg_throughput: 'Speed, average',
  p50_throughput: 'Speed p50',
  p90_throughput: 'Speed p90',
  p99_throughput: 'Speed p99',
  cache_hit_rate: 'Cache share',
  guardrail_invoked_rate: 'Share a guardrail acted on',
  response_cached_rate: 'Share from the cache',
  api_key_id: 'Key',
  generation_id: 'Generation',
  external_user: 'End user',
  context_length_bucket: 'Prompt length',
};

interface Named {
  readonly name: string;
  readonly display_label: string;
}

/** The title of a metric or dimension; of others the words of the name in sentence case, or a label of its own. */
export function titleOf({ name, display_label: label }: Named): string {
  const isOfName = label.toLowerCase().replaceAll(' ', '_') === name;
  return TITLES[name] ?? (isOfName ? `${label.slice(0, 1)}${label.slice(1).toLowerCase()}` : label);
}

/** The title that a name has among some; the name itself if it is none of them. */
export function titleNamed(name: string, all: readonly Named[]): string {
  const found = all.find((each) => each.name === name);
  return found === undefined ? name : titleOf(found);
}
