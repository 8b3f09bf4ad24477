import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { CurrentKey } from './contract.ts';

export const CurrentKeyContext = createContext<CurrentKey | null>(null);

/** The key that is signed in. */
export function useCurrentKey(): CurrentKey {
  const key = useContext(CurrentKeyContext);
  if (key === null) throw new Error('this part is only shown to a signed-in key');
  return key;
}
