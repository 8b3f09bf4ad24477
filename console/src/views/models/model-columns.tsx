import type { ComponentChildren } from 'preact';
import { pricePerMillion } from '../../format/money.ts';
import { contextSize, count, percent } from '../../format/numbers.ts';
import { duration } from '../../format/times.ts';
import { answeredTone } from '../../parts/recent-calls.ts';
import { Answered } from '../../parts/uptime.tsx';
import { stateOfEndpoint } from '../providers/provider-words.ts';
import { latencyOf, type ModelRow, partsOfId, priceOf, throughputOf } from './model-facts.ts';

/** One column of the catalogue. */
interface ModelColumn {
  readonly name: string;
  readonly title: string;
  readonly width: string;
  readonly class: string;
  readonly isNumber: boolean;
  readonly sortValue?: (row: ModelRow) => string | number | null;
  readonly cell: (row: ModelRow) => ComponentChildren;
}

const price = (
  name: 'prompt' | 'completion' | 'input_cache_read',
  title: string,
  width: string,
  priority = '',
): ModelColumn => ({
  name,
  title,
  width: `${width} ${priority}`,
  class: `num ${priority}`,
  isNumber: true,
  sortValue: ({ model }) => priceOf(model, name),
  cell: ({ model }) => {
    const value = priceOf(model, name);
    return value === null ? '–' : pricePerMillion(value);
  },
});

export const MODEL_COLUMNS: readonly ModelColumn[] = [
  {
    name: 'model',
    title: 'Model',
    width: '',
    class: 'cut',
    isNumber: false,
    sortValue: ({ model }) => model.id,
    cell: ({ model }) => {
      const { author, name } = partsOfId(model.id);
      return (
        <span class="cut" title={model.id}>
          <span class="dim">{author}</span>
          {name}
        </span>
      );
    },
  },
  {
    name: 'endpoints',
    title: 'Endpoints',
    width: 'c-84 o1',
    class: 'o1',
    isNumber: true,
    sortValue: ({ endpoints }) => endpoints.length,
    cell: ({ endpoints }) => <EndpointDots endpoints={endpoints} />,
  },
  {
    name: 'context',
    title: 'Context',
    width: 'c-78 o1',
    class: 'num o1',
    isNumber: true,
    sortValue: ({ model }) => model.context_length,
    cell: ({ model }) => (model.context_length === null ? '–' : contextSize(model.context_length)),
  },
  price('prompt', 'Prompt', 'c-72'),
  price('completion', 'Completion', 'c-84'),
  price('input_cache_read', 'Cached', 'c-72', 'o3'),
  {
    name: 'answered',
    title: 'Answered',
    width: 'c-84 o2',
    class: 'num o2',
    isNumber: true,
    sortValue: ({ lastDay }) => lastDay?.percent ?? null,
    cell: ({ lastDay }) => (
      <span class={lastDay === undefined ? undefined : TONES[answeredTone(lastDay)]}>
        <Answered window={lastDay} />
      </span>
    ),
  },
  {
    name: 'latency',
    title: 'First token',
    width: 'c-84 o3',
    class: 'num o3',
    isNumber: true,
    sortValue: latencyOf,
    cell: (row) => {
      const latency = latencyOf(row);
      return latency === null ? '–' : duration(latency);
    },
  },
  {
    name: 'speed',
    title: 'Speed',
    width: 'c-72 o3',
    class: 'num o3',
    isNumber: true,
    sortValue: throughputOf,
    cell: (row) => {
      const speed = throughputOf(row);
      return speed === null ? '–' : `${count(speed)} /s`;
    },
  },
  {
    name: 'spend',
    title: 'Share of spend',
    width: 'c-150 o2',
    class: 'shc o2',
    isNumber: true,
    sortValue: ({ spendShare }) => spendShare,
    cell: ({ spendShare }) =>
      spendShare === null ? (
        '–'
      ) : (
        <span class="r">
          <span class={spendShare === 0 ? 'num shn dim' : 'num shn'}>{percent(spendShare)}</span>
          {spendShare > 0 && (
            <svg class="bar" aria-hidden="true">
              <rect class="n" width={`${(spendShare * 100).toFixed(1)}%`} height="100%" />
            </svg>
          )}
        </span>
      ),
  },
];

/** What is well has no colour. */
const TONES = { ok: undefined, warn: 'warn', bad: 'bad' };

/** Dots that are drawn; the rest is counted. */
const MAX_DOTS = 5;

function EndpointDots({ endpoints }: Pick<ModelRow, 'endpoints'>) {
  if (endpoints.length === 0) return <>–</>;
  const states = endpoints.map((endpoint) => ({ endpoint, ...stateOfEndpoint(endpoint) }));
  const text = states.map(({ endpoint, text: state }) => `${endpoint.endpoint}: ${state}`).join('\n');
  return (
    <span class="dots" title={text} role="img" aria-label={text}>
      {states.slice(0, MAX_DOTS).map(({ endpoint, dot }) => (
        <span key={endpoint.endpoint} class={`dot ${dot}`} />
      ))}
      {endpoints.length > MAX_DOTS && <span class="dim">+{endpoints.length - MAX_DOTS}</span>}
    </span>
  );
}
