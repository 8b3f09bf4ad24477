import { useQuery } from '@tanstack/preact-query';
import { useEffect, useState } from 'preact/hooks';
import { Link } from '../../address/link.tsx';
import type { EndpointStateObject, ProviderStateObject, ServiceChangeObject } from '../../api/contract.ts';
import { ask } from '../../api/request.ts';
import { clockTime, dateTime, duration } from '../../format/times.ts';
import { Icon } from '../../parts/icon.tsx';
import { useShortcut } from '../../parts/keyboard.ts';
import { FailureNote, SkeletonRows } from '../../parts/states.tsx';
import { Answered, Uptime } from '../../parts/uptime.tsx';
import { OwnProvider } from './own-provider.tsx';
import { causeText, credentialText, endOf, stateOfEndpoint, stateOfProvider } from './provider-words.ts';

/** Endpoints that are listed; the rest is counted. */
const MAX_ENDPOINTS = 50;

const EVERY_MS = 10_000;

interface Props {
  readonly provider: ProviderStateObject;
  readonly onClose: () => void;
}

/** One provider: what is out of service and until when, its endpoints, what happened, and its facts. */
export function ProviderPanel({ provider, onClose }: Props) {
  useShortcut('Escape', onClose);
  const endpoints = useQuery({
    queryKey: ['gateway', 'endpoints', { provider: provider.slug }],
    queryFn: () =>
      ask<{ data: EndpointStateObject[] }>('/gateway/endpoints', { query: { provider: provider.slug } }),
    refetchInterval: EVERY_MS,
  });
  const found = endpoints.data?.data ?? [];
  const ordered = [...found].sort((one, other) => urgency(other) - urgency(one));
  return (
    <aside class="pv-d" aria-label={provider.name}>
      <div class="hd">
        <span class={`dot ${stateOfProvider(provider).dot}`} />
        <h2>{provider.name}</h2>
        <button class="b quiet ico push" type="button" aria-label="Close" onClick={onClose}>
          <Icon name="cross" size={14} />
        </button>
      </div>
      <OwnProvider key={provider.slug} provider={provider} />
      {endpoints.isError && <FailureNote error={endpoints.error} onRetry={() => endpoints.refetch()} />}
      {endpoints.isPending && <SkeletonRows count={3} />}
      {ordered
        .filter((endpoint) => endOf(endpoint) !== null)
        .map((endpoint) => (
          <Outage key={`${endpoint.model} ${endpoint.endpoint}`} endpoint={endpoint} />
        ))}
      <h3>Uptime</h3>
      <Uptime uptime={provider.uptime} />
      <h3>Endpoints</h3>
      {found.length === 0 && !endpoints.isPending && <p class="sm t3">No model has an endpoint here.</p>}
      <EndpointList endpoints={ordered} />
      <h3>What happened</h3>
      <Changes changes={provider.changes} />
      <h3>Facts</h3>
      <Facts provider={provider} />
    </aside>
  );
}

function urgency(endpoint: EndpointStateObject): number {
  return { bad: 2, warn: 1, ok: 0, off: 0 }[stateOfEndpoint(endpoint).dot];
}

/** Seconds count down while the panel is open. */
function useNow(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

function Outage({ endpoint }: { readonly endpoint: EndpointStateObject }) {
  const leftMs = Math.max(0, (endOf(endpoint) ?? 0) - useNow());
  const { cooldown } = endpoint;
  const isOfSome = cooldown !== null && cooldown.accounts > 0;
  return (
    <div class={`note ${isOfSome ? 'warn' : 'bad'}`}>
      <Icon name="clock" size={14} />
      <span>
        <b>
          {endpoint.model} at {endpoint.endpoint} is left alone for another{' '}
          {duration(Math.ceil(leftMs / 1000) * 1000)}.
        </b>{' '}
        {cooldown === null
          ? 'Its provider limits the rate of requests. '
          : `The last failure: ${causeText(cooldown.cause)}. Then one request tries it. `}
        {isOfSome
          ? 'Only requests of some accounts failed; others are served.'
          : 'Until then requests go to other endpoints of the model.'}
      </span>
    </div>
  );
}

function EndpointList({ endpoints }: { readonly endpoints: readonly EndpointStateObject[] }) {
  const left = endpoints.length - MAX_ENDPOINTS;
  return (
    <>
      <table class="in plain" aria-label="Endpoints">
        <thead>
          <tr>
            <th>Model</th>
            <th class="num">24 hours</th>
            <th class="num">30 days</th>
            <th class="num">First token</th>
          </tr>
        </thead>
        <tbody>
          {endpoints.slice(0, MAX_ENDPOINTS).map((endpoint) => {
            const { dot, text } = stateOfEndpoint(endpoint);
            const { model, endpoint: tag, uptime, latency_last_30m: latency } = endpoint;
            return (
              <tr key={`${model} ${tag}`}>
                <td class="cut">
                  <span class="r">
                    <span class={`dot ${dot}`} title={text} />
                    <span class="vh">{text}</span>
                    <Link class="cut" href={`/models?open=${encodeURIComponent(model)}`}>
                      {model}
                    </Link>
                  </span>
                </td>
                <td class="num">
                  <Answered window={uptime?.last_1d} />
                </td>
                <td class="num">
                  <Answered window={uptime?.last_30d} />
                </td>
                <td class="num">{latency === null ? '–' : duration(latency.p50)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {left > 0 && (
        <p class="sm t3">
          The first {MAX_ENDPOINTS} of {endpoints.length}. Models shows all.
        </p>
      )}
    </>
  );
}

function Changes({ changes }: { readonly changes: readonly ServiceChangeObject[] }) {
  if (changes.length === 0) {
    return <p class="sm t3">Nothing went out of service since the start of this process.</p>;
  }
  return (
    <ol class="evl">
      {changes.map((change) => (
        <li key={`${change.at} ${change.model} ${change.kind}`}>
          <time dateTime={change.at} title={dateTime(Date.parse(change.at))}>
            {clockTime(Date.parse(change.at)).slice(0, 8)}
          </time>
          <span class={`dot ${change.kind === 'back' ? 'ok' : 'bad'}`} />
          <span>
            <b>{change.model}</b> {changeText(change)}
          </span>
        </li>
      ))}
    </ol>
  );
}

function changeText({
  kind,
  seconds,
  failures,
  cause,
  is_of_one_account: isOfOne,
}: ServiceChangeObject): string {
  const length = duration(seconds * 1_000);
  if (kind === 'back') return `is back after ${length}.`;
  if (kind === 'paused') return `is paused for ${length} by a rate limit: ${causeText(cause)}.`;
  const whom = isOfOne ? ' for one account' : '';
  return `cools down${whom} for ${length}: ${failures} ${failures === 1 ? 'failure' : 'failures in a row'}, the last ${causeText(cause)}.`;
}

function Facts({ provider }: { readonly provider: ProviderStateObject }) {
  const { names, text } = credentialText(provider.credential);
  const { data_policy: policy, last_failure: failure } = provider;
  return (
    <dl class="kv">
      <dt>Slug</dt>
      <dd>
        <code>{provider.slug}</code>
      </dd>
      <dt>Dialect</dt>
      <dd>{provider.dialect ?? '–'}</dd>
      <dt>Address</dt>
      <dd>{provider.hosts.length === 0 ? 'inside the gateway' : <code>{provider.hosts.join(' ')}</code>}</dd>
      <dt>Key</dt>
      <dd>
        {names !== '' && <code>{names}</code>} {text}
      </dd>
      <dt>Data</dt>
      <dd>
        {policy === null
          ? 'not known: treated as kept and trained on'
          : `${policy.retains_prompts ? 'kept for a time' : 'not kept'}, ${policy.trains ? 'may be trained on' : 'not trained on'}`}
      </dd>
      <dt>Last failure</dt>
      <dd>
        {failure === null
          ? 'none since the start'
          : `${dateTime(Date.parse(failure.at))}: ${failure.errno ?? failure.status} for ${failure.model}${failure.is_over ? '; later calls succeeded' : ''}`}
      </dd>
    </dl>
  );
}
