import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { GenerationEvent } from '../../../../ports/events/events.ts';
import type { UsageSlice } from '../../../../ports/events/imported-usage.ts';

/** Events of a slice. Fixed, so that the beginning of a file that has grown has the same slices. */
export const SLICE_EVENTS = 2_000;

/** Amounts of money: text in a slice, because JSON has no such numbers. */
const AMOUNTS = ['creditNanos', 'byokNanos', 'upstreamNanos', 'cacheNanos', 'webNanos'] as const;

/** Packs imported events into a slice. That they are imported goes without saying. */
export function sliceOf(events: readonly GenerationEvent[]): UsageSlice {
  const text = JSON.stringify(events, (name, value: unknown) =>
    name === 'isImported' ? undefined : typeof value === 'bigint' ? String(value) : value,
  );
  return {
    id: createHash('sha256').update(text).digest('base64url'),
    events: events.length,
    lastEventMs: events.reduce((latest, { createdAtMs }) => Math.max(latest, createdAtMs), 0),
    content: gzipSync(text).toString('base64'),
  };
}

export function eventsOfSlice({ content }: Pick<UsageSlice, 'content'>): GenerationEvent[] {
  const text = gunzipSync(Buffer.from(content, 'base64')).toString();
  return (JSON.parse(text) as (GenerationEvent & Record<(typeof AMOUNTS)[number], string | null>)[]).map(
    (event) => ({
      ...event,
      isImported: true,
      ...Object.fromEntries(
        AMOUNTS.map((name) => [name, event[name] === null ? null : BigInt(event[name] as string)]),
      ),
    }),
  );
}
