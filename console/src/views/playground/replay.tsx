import { useQuery } from '@tanstack/preact-query';
import { useAddress } from '../../address/address.ts';
import { Link } from '../../address/link.tsx';
import type { Explanation, RoutingMetadata } from '../../api/contract.ts';
import { ApiError, ask } from '../../api/request.ts';
import { dateTime } from '../../format/times.ts';
import { compareRoutes, markedStops } from '../../parts/route/compare-routes.ts';
import { RouteRail } from '../../parts/route/route-rail.tsx';
import { stopsOfRecord } from '../../parts/route/route-stops.ts';
import { FailureNote } from '../../parts/states.tsx';

/** The part of a generation's record that replay needs. */
export interface ReplayedGeneration {
  readonly id: string;
  readonly model: string;
  readonly format: string | null;
  readonly created_at: string;
  readonly routing: RoutingMetadata | null;
}

/** A past generation, and what was said in it; null where that is not stored. */
export interface Replayed {
  readonly generation: ReplayedGeneration;
  readonly input: unknown;
}

/** The generation that the address names. */
export function useReplay() {
  const id = useAddress().query.get('generation') ?? '';
  return useQuery({
    queryKey: ['replay', id],
    queryFn: async (): Promise<Replayed> => {
      const query = { id };
      const { data } = await ask<{ data: ReplayedGeneration }>('/generation', { query });
      return { generation: data, input: await storedInput(id) };
    },
    enabled: id !== '',
    staleTime: Number.POSITIVE_INFINITY,
  });
}

async function storedInput(id: string): Promise<unknown> {
  try {
    return (await ask<{ data: { input: unknown } }>('/generation/content', { query: { id } })).data.input;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

/** The decision of then beside the one of now, and how they differ. */
export function Replay({ now }: { readonly now: Explanation | undefined }) {
  const replay = useReplay();
  if (replay.error instanceof ApiError && replay.error.status === 404) {
    return (
      <p class="note">
        There is no record of this generation: it was imported, its record is no longer kept, or it belongs to
        another account.
      </p>
    );
  }
  if (replay.isError) return <FailureNote error={replay.error} onRetry={() => replay.refetch()} />;
  if (replay.data === undefined) return null;
  const { generation, input } = replay.data;
  const { routing } = generation;
  if (routing === null) return <p class="hint">Its record has no routing decision: it was refused before.</p>;
  const comparison = now === undefined ? null : compareRoutes(routing, now);
  const marked = now === undefined ? null : markedStops(routing, now);
  return (
    <section aria-label="Replay" class="stack">
      <p class="sm t2">
        <Link href={`/log#${generation.id}`}>The generation</Link> of{' '}
        {dateTime(Date.parse(generation.created_at))}. {storedSentence(input)}
      </p>
      <h3>Then</h3>
      <RouteRail stops={marked?.past ?? stopsOfRecord(routing)} label="Route of then" />
      <h3>Today</h3>
      {marked !== null && <RouteRail stops={marked.today} label="Route of today" />}
      <div role="status">
        {comparison === null && <p class="hint">Today’s decision is not known yet.</p>}
        {comparison?.isSame === true && <p class="hint">The same: the same endpoints are available.</p>}
        {comparison?.sentences.map((sentence) => (
          <p key={sentence} class="note warn">
            {sentence}
          </p>
        ))}
      </div>
    </section>
  );
}

function storedSentence(input: unknown): string {
  return input === null
    ? 'Its content is not stored: the request beside is yours, with its model.'
    : 'Its messages stand at the left; its routing preferences and parameters are not stored.';
}
