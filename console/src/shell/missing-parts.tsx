import { type QueryClient, useQueryClient } from '@tanstack/preact-query';
import { useEffect, useState } from 'preact/hooks';
import { useAddress } from '../address/address.ts';
import { type PartMeta, partOf } from '../api/part.ts';
import { ApiError } from '../api/request.ts';
import { Icon } from '../parts/icon.tsx';

interface MissingPart extends PartMeta {
  readonly reason: string;
  readonly retry: () => void;
}

/** Refusals that concern no fault: the key may not read it, it is gone, or the session has ended. */
const NO_FAULTS: ReadonlySet<number> = new Set([401, 403, 404]);

/** Says above the view which of its parts could not be read, and why. A part that is read again leaves by itself. */
export function MissingParts() {
  const queries = useQueryClient();
  const { path } = useAddress();
  const [missing, setMissing] = useState<readonly MissingPart[]>([]);
  useEffect(() => {
    const look = (): void =>
      setMissing((before) => {
        const found = missingParts(queries);
        return textOf(found) === textOf(before) ? before : found;
      });
    look();
    return queries.getQueryCache().subscribe(look);
  }, [queries]);
  return missing
    .filter(({ onlyAt, exceptAt }) => (onlyAt ?? path) === path && exceptAt !== path)
    .map(({ part, reason, retry }) => (
      <div class="note warn missing" role="status" key={part}>
        <Icon name="warning" size={14} />
        <span class="grow">
          <b>{part}</b> could not be read: {reason} The rest of this view is not affected.
        </span>
        <button class="link" type="button" onClick={retry}>
          Try again
        </button>
      </div>
    ));
}

/** The parts of what is shown now that could not be read, each once. */
function missingParts(queries: QueryClient): readonly MissingPart[] {
  const found = new Map<string, MissingPart>();
  for (const query of queries.getQueryCache().getAll()) {
    const meta = partOf(query.meta);
    const { error } = query.state;
    if (meta === undefined || error === null || !query.isActive() || query.state.status !== 'error') continue;
    if (error instanceof ApiError && NO_FAULTS.has(error.status)) continue;
    const reason = /[.!?]$/.test(error.message) ? error.message : `${error.message}.`;
    found.set(meta.part, { ...meta, reason, retry: () => void query.fetch() });
  }
  return [...found.values()];
}

function textOf(missing: readonly MissingPart[]): string {
  return JSON.stringify(missing.map(({ part, reason }) => [part, reason]));
}
