import { useQuery } from '@tanstack/preact-query';
import { addressWith, go, useAddress } from '../../address/address.ts';
import type { GenerationCounts } from '../../api/contract.ts';
import { ask } from '../../api/request.ts';
import { count, counted } from '../../format/numbers.ts';
import { clockTime, dateTime, duration } from '../../format/times.ts';
import { knownMomentsOf, type Range } from '../../parts/range/range.ts';

/** How often the counts of a live log are read again, milliseconds. */
const EVERY_MS = 15_000;

export function useCounts(range: Range, parameters: Readonly<Record<string, string>>, isLive: boolean) {
  return useQuery({
    queryKey: ['log-counts', range, parameters],
    refetchInterval: isLive ? EVERY_MS : false,
    queryFn: async ({ signal }) => {
      const { fromMs, toMs } = knownMomentsOf(range, Date.now());
      const query = {
        ...parameters,
        from: new Date(fromMs).toISOString(),
        to: new Date(toMs).toISOString(),
        buckets: 96,
      };
      return (await ask<{ data: GenerationCounts }>('/generations/counts', { query, signal })).data;
    },
  });
}

const HEIGHT = 34;
const BAR = 8;
const LABELS = 4;

/** Generations over time, failures in red. A click shows the bucket alone. */
export function Histogram({ counts }: { readonly counts: GenerationCounts }) {
  const address = useAddress();
  const { bucket_ms: bucketMs, buckets } = counts;
  const firstMs = Math.floor(Date.parse(counts.from) / bucketMs) * bucketMs;
  const lastMs = Date.parse(counts.to);
  const bars = Math.max(1, Math.ceil((lastMs - firstMs) / bucketMs));
  const most = Math.max(1, ...buckets.map((bucket) => bucket.count));
  const width = bars * BAR;
  const at = (ms: number) => (lastMs - firstMs > 2 * 86_400_000 ? dateTime(ms) : clockTime(ms).slice(0, 5));
  const zoom = (startMs: number): void => {
    const to = new Date(startMs + bucketMs).toISOString();
    go(addressWith(address, { from: new Date(startMs).toISOString(), to }));
  };
  return (
    <div class="hist">
      <svg
        viewBox={`0 0 ${width} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${counted(counts.total, 'generation')}, ${count(counts.failed)} failed, per ${duration(bucketMs)}`}
      >
        {buckets.map(({ start, count: all, failed }) => {
          const startMs = Date.parse(start);
          const x = ((startMs - firstMs) / bucketMs) * BAR + 1;
          const high = Math.max(1.5, (all / most) * HEIGHT);
          const red = failed === 0 ? 0 : Math.max(1.6, (failed / most) * HEIGHT);
          return (
            // biome-ignore lint/a11y/noStaticElementInteractions: the range picker serves the keyboard.
            <g key={start} onClick={() => zoom(startMs)}>
              <title>{`${dateTime(startMs)}: ${counted(all, 'generation')}, ${count(failed)} failed`}</title>
              <rect class="hb" x={x} y={HEIGHT - high} width={BAR - 2} height={high} />
              {red > 0 && <rect class="he" x={x} y={HEIGHT - red} width={BAR - 2} height={red} />}
            </g>
          );
        })}
      </svg>
      <div class="x" aria-hidden="true">
        {Array.from({ length: LABELS }, (_, index) => (
          <span key={index}>{at(firstMs + ((lastMs - firstMs) * index) / LABELS)}</span>
        ))}
        <span />
      </div>
    </div>
  );
}
