import type { LoadedConfiguration } from '../../config/load.ts';
import { addressesOf, deriveSettings, NO_ANSWER, type Reach, reach } from '../../examination.ts';

/** Result of calling one address of a provider. */
export interface ProviderReach {
  readonly provider: string;
  /** False = serves only callers with a BYOK credential. */
  readonly hasCredential: boolean;
  /** Without path, user and query; undefined if there is no address. */
  readonly origin: string | undefined;
  /** Undefined if there is no address. */
  readonly reach: Reach | undefined;
}

/** Timeout of one server, milliseconds. */
const SERVER_MS = 3_000;

/** Timeout of all servers together, milliseconds. */
const ALL_MS = 10_000;

const MAX_CONCURRENT_CALLS = 16;

interface Place {
  readonly provider: string;
  readonly hasCredential: boolean;
  readonly address: string | undefined;
}

/** Calls every active provider. Never rejects. */
export async function reachProviders(loaded: LoadedConfiguration): Promise<readonly ProviderReach[]> {
  const places = placesOf(loaded);
  const reaches = new Array<ProviderReach>(places.length);
  const endsAt = performance.now() + ALL_MS;
  const waiting = places.entries();
  const askAll = async () => {
    for (const [index, place] of waiting) reaches[index] = await reachOf(place, endsAt - performance.now());
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT_CALLS }, askAll));
  return reaches;
}

function placesOf(loaded: LoadedConfiguration): Place[] {
  const { providers } = deriveSettings(loaded).gateway.catalog;
  return providers.flatMap((provider): Place[] => {
    if (provider.dialect === 'simulator') return [];
    const hasCredential = provider.auth === 'none' || provider.credential !== undefined;
    const addresses = addressesOf(provider);
    const places: readonly (string | undefined)[] = addresses.length === 0 ? [undefined] : addresses;
    return places.map((address) => ({ provider: provider.slug, hasCredential, address }));
  });
}

async function reachOf({ address, ...place }: Place, leftMs: number): Promise<ProviderReach> {
  if (address === undefined) return { ...place, origin: undefined, reach: undefined };
  const { origin } = new URL(address);
  const limitMs = Math.min(SERVER_MS, Math.floor(leftMs));
  if (limitMs <= 0) return { ...place, origin, reach: { ok: false, problem: NO_ANSWER } };
  return { ...place, origin, reach: await reach(address, limitMs) };
}
