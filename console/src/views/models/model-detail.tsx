import { useQuery } from '@tanstack/preact-query';
import type { EndpointListObject, EndpointStateObject, PriceChangeObject } from '../../api/contract.ts';
import { partMeta } from '../../api/part.ts';
import { ask } from '../../api/request.ts';
import { pricePerMillion } from '../../format/money.ts';
import { contextSize, count, percent } from '../../format/numbers.ts';
import { date, duration } from '../../format/times.ts';
import { HealthStrip, SINCE_START } from '../../parts/health-strip.tsx';
import { FailureNote, SkeletonRows } from '../../parts/states.tsx';
import { Answered, UptimeLegend, UptimeStrip } from '../../parts/uptime.tsx';
import { causeText, endOf, stateOfEndpoint } from '../providers/provider-words.ts';
import type { ModelRow } from './model-facts.ts';
import { pointsOf, stepsOf } from './price-steps.ts';

type Listed = EndpointListObject['endpoints'][number];

/** The endpoints of a model with prices and health, and the history of its prices. */
export function ModelDetail({ row: { model, endpoints } }: { readonly row: ModelRow }) {
  const listed = useQuery({
    queryKey: ['models', model.id, 'endpoints'],
    queryFn: () => ask<{ data: EndpointListObject }>(`/models/${model.id}/endpoints`),
  });
  const states = new Map(endpoints.map((state) => [state.endpoint, state]));
  return (
    <div class="exp-g">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways on phones */}
      <section class="exp-t" aria-label="Endpoints" tabIndex={0}>
        {listed.isError && <FailureNote error={listed.error} onRetry={() => listed.refetch()} />}
        {listed.isPending && <SkeletonRows count={2} />}
        {listed.data !== undefined && (
          <table class="in" aria-label={`Endpoints of ${model.id}`}>
            <thead>
              <tr>
                <th>Endpoint</th>
                <th class="o4">State</th>
                <th class="num">Prompt</th>
                <th class="num">Completion</th>
                <th class="num o2">Cached</th>
                <th class="o2" title={SINCE_START}>
                  24 hours
                </th>
                <th class="num" title="of the calls of 24 hours">
                  Answered
                </th>
                <th class="num o3">First token</th>
                <th class="num o3">Speed</th>
              </tr>
            </thead>
            <tbody>
              {listed.data.data.endpoints.map((endpoint) => (
                <EndpointRow key={endpoint.tag} endpoint={endpoint} state={states.get(endpoint.tag)} />
              ))}
            </tbody>
          </table>
        )}
        {endpoints.length > 0 && <UptimeTable modelId={model.id} endpoints={endpoints} />}
        <p class="sm t3">
          {model.name}. Takes {model.architecture.input_modalities.join(', ')}; gives{' '}
          {model.architecture.output_modalities.join(', ')}. At most{' '}
          {model.top_provider.max_completion_tokens === null
            ? 'as many tokens as its context has'
            : `${contextSize(model.top_provider.max_completion_tokens)} tokens`}{' '}
          in an answer.
        </p>
      </section>
      <PriceHistory modelId={model.id} endpoint={listed.data?.data.endpoints[0]?.tag} />
    </div>
  );
}

interface RowProps {
  readonly endpoint: Listed;
  /** Absent if the key may not see the state of the installation. */
  readonly state: EndpointStateObject | undefined;
}

function EndpointRow({ endpoint, state }: RowProps) {
  const shown = state === undefined ? undefined : stateOfEndpoint(state);
  const { prompt, completion, input_cache_read: cached } = endpoint.pricing;
  const uptime = endpoint.uptime_last_1d;
  const latency = endpoint.latency_last_30m;
  const speed = endpoint.throughput_last_30m;
  return (
    <tr>
      <td class="nw">
        <span class="r">
          <span class={`dot ${shown?.dot ?? (endpoint.status === 0 ? 'ok' : 'bad')}`} title={shown?.text} />
          <b>{endpoint.tag}</b>
        </span>
      </td>
      <td class={`nw o4 ${shown === undefined || shown.dot === 'ok' ? 'dim' : shown.dot}`}>
        {shown?.text ?? '–'} {state !== undefined && <TimeLeft state={state} />}
      </td>
      <td class="num">{pricePerMillion(Number(prompt))}</td>
      <td class="num">{pricePerMillion(Number(completion))}</td>
      <td class="num o2">{cached === undefined ? '–' : pricePerMillion(Number(cached))}</td>
      <td class="upc o2">
        <HealthStrip history={state?.history ?? null} />
      </td>
      <td class="num">
        {state?.uptime ? (
          <Answered window={state.uptime.last_1d} />
        ) : uptime === null ? (
          '–'
        ) : (
          percent(uptime / 100)
        )}
      </td>
      <td class="num o3">{latency === null ? '–' : duration(latency.p50)}</td>
      <td class="num o3">{speed === null ? '–' : `${count(speed.p50)} /s`}</td>
    </tr>
  );
}

interface UptimeProps {
  readonly modelId: string;
  readonly endpoints: readonly EndpointStateObject[];
}

/** Uptime of each endpoint over 30 days, for keys that may see the state of the installation. */
function UptimeTable({ modelId, endpoints }: UptimeProps) {
  return (
    <>
      <table class="in upt" aria-label={`Uptime of ${modelId}`}>
        <thead>
          <tr>
            <th>Uptime</th>
            <th>By day</th>
            <th class="num">24 hours</th>
            <th class="num">7 days</th>
            <th class="num">30 days</th>
            <th class="num o2">Calls in 30 days</th>
          </tr>
        </thead>
        <tbody>
          {endpoints.map(({ endpoint, uptime }) => (
            <tr key={endpoint}>
              <td class="nw">{endpoint}</td>
              <td class="upc">
                <UptimeStrip days={uptime?.days ?? null} />
              </td>
              <td class="num">
                <Answered window={uptime?.last_1d} />
              </td>
              <td class="num">
                <Answered window={uptime?.last_7d} />
              </td>
              <td class="num">
                <Answered window={uptime?.last_30d} />
              </td>
              <td class="num o2">{uptime === null ? '–' : count(uptime.last_30d.calls)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <UptimeLegend />
    </>
  );
}

/** Until when it is left alone, and why. */
function TimeLeft({ state }: { readonly state: EndpointStateObject }) {
  const end = endOf(state);
  if (end === null) return null;
  const left = Math.ceil(Math.max(0, end - Date.now()) / 1_000) * 1_000;
  return (
    <b title={state.cooldown === null ? undefined : causeText(state.cooldown.cause)}>{duration(left)}</b>
  );
}

const WIDTH = 300;
const HEIGHT = 48;

/** Lines of the chart, with their class. */
const LINES = [
  ['completion', 'k1'],
  ['prompt', 'k5'],
] as const;

/** Changes that are listed below the chart. */
const MAX_LISTED = 5;

/** Prices of the first endpoint since the gateway knows them. */
function PriceHistory({
  modelId,
  endpoint,
}: {
  readonly modelId: string;
  readonly endpoint: string | undefined;
}) {
  const prices = useQuery({
    queryKey: ['gateway', 'prices', modelId],
    meta: partMeta('The history of prices'),
    queryFn: () => ask<{ data: PriceChangeObject[] }>('/gateway/prices', { query: { model: modelId } }),
  });
  if (endpoint === undefined || prices.data === undefined) return <div class="exp-p" />;
  const changes = prices.data.data;
  const lines = LINES.map(([member, style]) => ({
    member,
    style,
    steps: stepsOf(changes, endpoint, member),
  }));
  const all = lines.flatMap(({ steps }) => steps);
  const [first] = all.map(({ fromMs }) => fromMs).sort((one, other) => one - other);
  if (first === undefined) return <div class="exp-p" />;
  const frame = {
    fromMs: first,
    toMs: Date.now(),
    highest: Math.max(...all.map(({ price }) => price ?? 0)),
    width: WIDTH,
    height: HEIGHT,
  };
  const changed = changes.filter((change) => !change.is_first);
  return (
    <section class="exp-p" aria-label="History of prices">
      <h3>
        Price since {date(first)} <span class="dim">$ per million</span>
      </h3>
      <div class="ph">
        <div class="plot">
          <svg
            viewBox={`0 -4 ${WIDTH} ${HEIGHT + 8}`}
            preserveAspectRatio="none"
            role="img"
            aria-label={`Price of ${endpoint} since ${date(first)}: ${changed.length} changes`}
          >
            <line class="g zero" x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
            {lines.map(({ member, style, steps }) => (
              <polyline
                key={member}
                class={`ln ${style} ${style === 'k1' ? 'thick' : ''}`}
                points={pointsOf(steps, frame)}
              />
            ))}
          </svg>
        </div>
        <div class="phl">
          {lines.map(({ member, style, steps }) => {
            const price = steps.at(-1)?.price ?? null;
            return (
              <span key={member} class={style}>
                <span class="lk" />
                {member} <b>{price === null ? '–' : pricePerMillion(price)}</b>
              </span>
            );
          })}
          {changed.length === 0 && <span class="dim">No change since then.</span>}
          {changed.slice(0, MAX_LISTED).map((change) => (
            <span
              class="dim"
              key={`${change.at} ${change.endpoint} ${change.member} ${change.min_prompt_tokens}`}
            >
              {date(Date.parse(change.at))}: {change.endpoint} {change.member.replaceAll('_', ' ')}{' '}
              {change.before === null ? '–' : pricePerMillion(Number(change.before))} to{' '}
              {change.after === null ? '–' : pricePerMillion(Number(change.after))}
            </span>
          ))}
        </div>
      </div>
    </section>
  );
}
