import { useQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import type { KeyObject } from '../../api/contract.ts';
import { partMeta } from '../../api/part.ts';
import { ask } from '../../api/request.ts';
import { stateOf } from './key-facts.ts';

/** Keys that a session of a management key can act as. */
export function useKeys(search: string, isEnabled: boolean) {
  return useQuery({
    queryKey: ['keys', 'acting', search],
    meta: partMeta('The list of keys'),
    queryFn: () =>
      ask<{ data: KeyObject[] }>('/keys', {
        query: { all_workspaces: true, ...(search !== '' && { search }) },
      }),
    placeholderData: (before) => before,
    enabled: isEnabled,
  });
}

/** A choice of this browser, as the theme is. */
const STORED_AS = 'signalbox-payer';

/** Which key pays for what the console itself sends. */
export interface Payer {
  /** Undefined = there are several, and the reader has chosen none yet; or there is none. */
  readonly chosen: KeyObject | undefined;
  /** No key could pay. */
  readonly hasNone: boolean;
  /** Remembers the choice in this browser. */
  readonly choose: (hash: string) => void;
}

/**
 * The key of the address, else the one that the reader chose last, else the only one that can pay. Of several none is
 * taken unasked: it may be a customer's.
 */
export function usePayer(ofAddress: string | null, isEnabled: boolean): Payer {
  const [remembered, setRemembered] = useState(() => localStorage.getItem(STORED_AS));
  const hash = ofAddress ?? remembered;
  const named = useKeys(hash ?? '', isEnabled);
  const all = useKeys('', isEnabled);
  const paying = (all.data?.data ?? []).filter((key) => stateOf(key, Date.now()) === 'active');
  const chosen = named.data?.data.find((key) => key.hash === hash);
  return {
    chosen: chosen ?? (paying.length === 1 && ofAddress === null ? paying[0] : undefined),
    hasNone: isEnabled && all.isSuccess && paying.length === 0 && chosen === undefined,
    choose: (next) => {
      localStorage.setItem(STORED_AS, next);
      setRemembered(next);
    },
  };
}
