import { useQuery } from '@tanstack/preact-query';
import { addressWith, useAddress } from '../../../address/address.ts';
import { Link } from '../../../address/link.tsx';
import type { GenerationRecord, GenerationsReply } from '../../../api/contract.ts';
import { useCurrentKey } from '../../../api/current-key.ts';
import { ask } from '../../../api/request.ts';
import type { ShownGeneration } from '../shown-generation.ts';
import { LIVE_EVERY_MS } from '../use-log-rows.ts';
import { callerFilters } from './caller-filters.ts';

/** How often a row is looked for: an old generation may have none any more. */
const MAX_LOOKS = 5;

interface Props {
  /** Undefined while it runs, and if it is not kept. */
  readonly record: GenerationRecord | undefined;
  /** Its row in the list; undefined = it is not there. */
  readonly row: ShownGeneration | undefined;
}

/** Who sent the generation, and for what: each part filters the log. */
export function CallerLine({ record, row }: Props) {
  const address = useAddress();
  const isManagement = useCurrentKey().is_management_key;
  // The names of key, workspace and app are in the row alone.
  const search = useQuery({
    queryKey: ['generation-row', record?.id],
    queryFn: () => rowOf(record as GenerationRecord),
    enabled: row === undefined && record !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    // The row of a generation that has just ended comes a moment after its record.
    refetchInterval: ({ state: { data, dataUpdateCount: looks } }) =>
      data === null && looks < MAX_LOOKS ? LIVE_EVERY_MS : false,
  });
  const filters = callerFilters(row ?? search.data ?? null, record, isManagement);
  if (filters.length === 0) return null;
  return (
    <p class="t2 sm callr">
      {filters.map(({ label, text, filter, hint }) => (
        <span key={label}>
          {label}{' '}
          {filter === null ? (
            <span title={hint}>{text}</span>
          ) : (
            <Link href={addressWith(address, filter)} title={hint}>
              {text}
            </Link>
          )}
        </span>
      ))}
    </p>
  );
}

async function rowOf({ id, created_at: from }: GenerationRecord): Promise<ShownGeneration | null> {
  const to = new Date(Date.parse(from) + 1).toISOString();
  const { data } = await ask<GenerationsReply>('/generations', { query: { search: id, from, to, limit: 1 } });
  return data[0] ?? null;
}
