import { useQueryClient } from '@tanstack/preact-query';
import { useCallback, useState } from 'preact/hooks';

type Change<Value> = (before: Value) => Value;

/**
 * State that outlives the view, in memory alone: what was typed is there when the reader comes back from the log.
 * It is cleared with everything else that was read, when the reader signs out.
 */
export function useKept<Value>(name: string, initial: Value): [Value, (change: Change<Value>) => void] {
  const queries = useQueryClient();
  const [, redraw] = useState({});
  const key = `playground-${name}`;
  const value = queries.getQueryData<Value>([key]) ?? initial;
  const change = useCallback(
    (next: Change<Value>) => {
      queries.setQueryDefaults([key], { gcTime: Number.POSITIVE_INFINITY });
      queries.setQueryData<Value>([key], (before) => next(before ?? initial));
      redraw({});
    },
    [queries, key, initial],
  );
  return [value, change];
}
