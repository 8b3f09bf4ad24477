import type { Provider } from '../catalog/catalog.ts';
import type { DialectName, Format } from '../ir/items.ts';

/** `relay`: the caller's own body out, the upstream's own frames back. `translate`: through the representation. */
export type Lane = 'relay' | 'translate';

/** The dialect that a provider speaks for a request of a given format: the simulator takes the caller's own. */
export function dialectOf(
  provider: Pick<Provider, 'dialect' | 'simulatedFormat'>,
  format: Format,
): DialectName {
  return provider.dialect === 'simulator' ? (provider.simulatedFormat ?? format) : provider.dialect;
}
