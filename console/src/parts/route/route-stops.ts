import type { Explanation, GenerationRecord, RoutingMetadata } from '../../api/contract.ts';
import { pricePerMillion } from '../../format/money.ts';
import { duration } from '../../format/times.ts';

/** One point of the track of a request. */
export interface Stop {
  /** `via`: a step on the way; `spare`: an endpoint that is not needed; `off`: an endpoint that is left out. */
  readonly kind: 'via' | 'served' | 'failed' | 'spare' | 'off';
  readonly title: string;
  /** At the right: a price, a status, the rule that left it out. */
  readonly aside?: string;
  readonly note?: string;
  /** The endpoint, as `endpointName` names it; absent = it is none. */
  readonly endpoint?: string;
  /** How it differs from another decision. */
  readonly change?: string;
}

/** Names an endpoint in a record and in an explanation alike: both have the display name of its provider. */
export function endpointName({
  provider,
  model,
}: {
  readonly provider: string;
  readonly model: string;
}): string {
  return `${provider} (${model})`;
}

/** What would happen to a request now. */
export function stopsOfExplanation({
  requested,
  strategy,
  candidates,
  rejected,
  pipeline = [],
}: Explanation): readonly Stop[] {
  return [
    { kind: 'via', title: `Asked for ${requested}`, aside: strategy },
    ...pipelineStops(pipeline),
    ...candidates.map((candidate): Stop => {
      const { rank, tag, model, price, health } = candidate;
      const isCooling = health.state === 'cooling';
      const note = noteOf(candidate);
      return {
        kind: rank === 1 ? 'served' : 'spare',
        title: titleOf(tag, model, requested),
        endpoint: endpointName(candidate),
        aside: isCooling
          ? coolingOf(health)
          : `${perMillion(price.prompt)} / ${perMillion(price.completion)}`,
        ...(note !== '' && { note }),
      };
    }),
    ...rejected.map(
      ({ provider, tag, model, filter, reason }): Stop => ({
        kind: 'off',
        title: titleOf(tag, model, requested),
        endpoint: endpointName({ provider, model }),
        aside: filter,
        note: reason,
      }),
    ),
  ];
}

/**
 * What happened to a generation, from its record. `calls`: its upstream calls, which have what the providers of failed
 * attempts said, in the same order as the attempts.
 */
export function stopsOfRecord(
  { requested, strategy, endpoints, attempts = [], pipeline = [] }: RoutingMetadata,
  calls: GenerationRecord['provider_responses'] = null,
): readonly Stop[] {
  const isTried = ({ provider, model }: { provider: string; model: string }): boolean =>
    attempts.some((attempt) => attempt.provider === provider && attempt.model === model);
  return [
    { kind: 'via', title: `Asked for ${requested}`, aside: strategy },
    ...pipelineStops(pipeline),
    ...attempts.map(
      ({ provider, model, status }, index): Stop => ({
        kind: status < 400 ? 'served' : 'failed',
        title: titleOf(provider, model, requested),
        endpoint: endpointName({ provider, model }),
        aside: String(status),
        ...(status >= 400 && { note: failureNote(calls?.[index], index === attempts.length - 1) }),
      }),
    ),
    ...endpoints.available
      .filter((endpoint) => !isTried(endpoint))
      .map(
        ({ provider, model }): Stop => ({
          kind: 'spare',
          title: titleOf(provider, model, requested),
          endpoint: endpointName({ provider, model }),
          aside: 'not needed',
        }),
      ),
    ...(endpoints.rejected ?? []).map(
      ({ provider, model, filter, reason }): Stop => ({
        kind: 'off',
        title: titleOf(provider, model, requested),
        endpoint: endpointName({ provider, model }),
        aside: filter,
        note: reason,
      }),
    ),
  ];
}

/** Why an attempt failed, in the words of its provider if there are some. */
function failureNote(call: object | undefined, isLast: boolean): string {
  const { provider_message: message } = (call ?? {}) as { provider_message?: unknown };
  const next = isLast ? '' : 'The next one was tried.';
  if (typeof message !== 'string') return `Failed. ${next}`.trim();
  return `“${message}” ${next}`.trim();
}

/** Endpoints of one model are named by their provider; the model is said where it is another than asked for. */
function titleOf(endpoint: string, model: string, requested: string): string {
  return model === requested ? endpoint : `${endpoint}, ${model}`;
}

function pipelineStops(pipeline: readonly object[]): Stop[] {
  return pipeline.map((entry) => {
    const { name, type, summary } = entry as { name?: string; type?: string; summary?: string };
    return {
      kind: 'via',
      title: name ?? type ?? 'A step before',
      ...(type !== undefined && name !== undefined && { aside: type }),
      ...(summary !== undefined && { note: summary }),
    };
  });
}

type Candidate = Explanation['candidates'][number];

function noteOf({ rank, sticky, weight, credential, lane, health }: Candidate): string {
  return [
    rank === 2 ? 'Would be tried next.' : '',
    sticky ? 'Sticky: the conversation was here before.' : '',
    weight === null ? '' : `Drawn first with ${Math.round(weight * 100)} %.`,
    credential === 'shared' ? '' : 'With a provider key of your own.',
    lane === 'translate' ? 'Translated.' : '',
    health.state === 'probing' ? 'Tried again after a cool-down.' : '',
    health.latency_p50_ms === null ? '' : `p50 first token ${duration(health.latency_p50_ms)}.`,
  ]
    .filter((part) => part !== '')
    .join(' ');
}

function coolingOf({ retry_after_seconds: seconds }: Candidate['health']): string {
  return seconds === undefined ? 'cooling down' : `cooling down ${seconds} s`;
}

function perMillion(usdPerToken: string): string {
  return `$${pricePerMillion(Number(usdPerToken))}`;
}
