import { useInfiniteQuery } from '@tanstack/preact-query';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { addressWith, go, useAddress } from '../../address/address.ts';
import type { GenerationCounts } from '../../api/contract.ts';
import { ask } from '../../api/request.ts';
import { count, counted } from '../../format/numbers.ts';
import { dateTime, duration } from '../../format/times.ts';
import { TimeLabels } from '../../parts/chart/time-labels.tsx';
import { labelsWithin } from '../../parts/chart/time-scale.ts';
import { timeTicks } from '../../parts/chart/time-ticks.ts';
import { useWidth } from '../../parts/chart/use-width.ts';
import type { Range } from '../../parts/range/range.ts';
import { mergedCounts } from './merge-counts.ts';
import { searchWithinMs, startOf } from './use-log-rows.ts';

/** How often the counts of a live log are read again, milliseconds. */
const EVERY_MS = 15_000;

interface CountStart {
  readonly from: string;
  readonly to: string;
  /** Where the answer before stopped. */
  readonly countedFrom: string | undefined;
  /** How many times counting has stopped. */
  readonly stops: number;
}

interface Part extends GenerationCounts {
  readonly stops: number;
}

/** Counts the generations of a range, the newest first: part after part, each as soon as it is there. */
export function useCounts(range: Range, parameters: Readonly<Record<string, string>>, isLive: boolean) {
  const parts = useInfiniteQuery({
    queryKey: ['log-counts', range, parameters],
    refetchInterval: isLive ? EVERY_MS : false,
    queryFn: async ({ pageParam, signal }): Promise<Part> => {
      const { from, to, countedFrom, stops } = pageParam ?? startOf(range);
      const query = {
        ...parameters,
        from,
        to,
        buckets: 96,
        within_ms: searchWithinMs(stops),
        counted_from: countedFrom,
      };
      const { data } = await ask<{ data: GenerationCounts }>('/generations/counts', { query, signal });
      return { ...data, stops };
    },
    initialPageParam: null as CountStart | null,
    getNextPageParam: ({ from, to, stops, counted_from: countedFrom }: Part): CountStart | null =>
      countedFrom === null ? null : { from, to, countedFrom, stops: stops + 1 },
  });
  const isToGoOn = parts.hasNextPage && !parts.isFetching && !parts.isError;
  useEffect(() => {
    if (isToGoOn) void parts.fetchNextPage();
  }, [isToGoOn]);
  const counts = useMemo(() => mergedCounts(parts.data?.pages ?? []), [parts.data]);
  return { counts, error: parts.error, retry: () => void parts.refetch() };
}

function barTitle({
  count: all,
  failed,
  refused,
}: Omit<GenerationCounts['buckets'][number], 'start'>): string {
  const served = `${counted(all - refused, 'generation')}, ${count(failed)} failed`;
  return refused === 0 ? served : `${served}, ${count(refused)} refused`;
}

const HEIGHT = 34;
const BAR = 8;

/** Generations over time, failures in red, refused requests in amber above them. A click shows the bucket alone. */
export function Histogram({ counts }: { readonly counts: GenerationCounts }) {
  const address = useAddress();
  const { bucket_ms: bucketMs, buckets } = counts;
  const firstMs = Math.floor(Date.parse(counts.from) / bucketMs) * bucketMs;
  const lastMs = Date.parse(counts.to);
  const bars = Math.max(1, Math.ceil((lastMs - firstMs) / bucketMs));
  const most = Math.max(1, ...buckets.map((bucket) => bucket.count));
  const width = bars * BAR;
  const uncounted =
    counts.counted_from === null ? 0 : ((Date.parse(counts.counted_from) - firstMs) / bucketMs) * BAR;
  const box = useRef<HTMLDivElement>(null);
  const shownMs = bars * bucketMs;
  const { ticks, text } = timeTicks(firstMs, firstMs + shownMs, labelsWithin(useWidth(box)));
  const zoom = (startMs: number): void => {
    const to = new Date(startMs + bucketMs).toISOString();
    go(addressWith(address, { from: new Date(startMs).toISOString(), to }));
  };
  return (
    <div class="hist" ref={box}>
      <svg
        viewBox={`0 0 ${width} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${barTitle({ ...counts, count: counts.total })}, per ${duration(bucketMs)}`}
      >
        {uncounted > 0 && (
          <rect class="hu" x={0} y={0} width={uncounted} height={HEIGHT}>
            <title>Not counted yet</title>
          </rect>
        )}
        {buckets.map((bucket) => {
          const { start, count: all, failed, refused } = bucket;
          const startMs = Date.parse(start);
          const x = ((startMs - firstMs) / bucketMs) * BAR + 1;
          const high = Math.max(1.5, (all / most) * HEIGHT);
          const red = failed === 0 ? 0 : Math.max(1.6, (failed / most) * HEIGHT);
          const amber = refused === 0 ? 0 : Math.max(1.6, (refused / most) * HEIGHT);
          return (
            // biome-ignore lint/a11y/noStaticElementInteractions: the range picker serves the keyboard.
            <g key={start} onClick={() => zoom(startMs)}>
              <title>{`${dateTime(startMs)}: ${barTitle(bucket)}`}</title>
              <rect class="hb" x={x} y={HEIGHT - high} width={BAR - 2} height={high} />
              {red > 0 && <rect class="he" x={x} y={HEIGHT - red} width={BAR - 2} height={red} />}
              {amber > 0 && <rect class="hr" x={x} y={HEIGHT - red - amber} width={BAR - 2} height={amber} />}
            </g>
          );
        })}
      </svg>
      <TimeLabels labels={ticks.map((ms) => ({ place: (ms - firstMs) / shownMs, text: text(ms) }))} />
    </div>
  );
}
