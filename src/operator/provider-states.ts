import type { Catalog, Provider } from '../catalog/catalog.ts';
import { isAuthorized } from '../catalog/providers/missing-credential.ts';
import type { ProviderView, ReachView } from '../control/provider-view.ts';
import type { LastFailures } from '../gateway/observers/last-failures.ts';
import { NO_ANSWER, type Reach, reach } from '../net/transport/reach.ts';
import { addressesOf } from '../upstream/auth/destination.ts';

/** Timeout of one server, milliseconds. */
const SERVER_MS = 3_000;

/** Timeout of all servers together, milliseconds. */
const ALL_MS = 8_000;

const MAX_CONCURRENT_CALLS = 16;

interface Place {
  readonly provider: Provider;
  readonly address: string | undefined;
}

/** Calls every active provider. `failures`: what a running gateway remembers. Never rejects. */
export async function providerStates(catalog: Catalog, failures?: LastFailures): Promise<ProviderView[]> {
  const places = placesOf(catalog);
  const reaches = new Array<ReachView | null>(places.length);
  const endsAt = performance.now() + ALL_MS;
  const waiting = places.entries();
  const askAll = async () => {
    for (const [index, { address }] of waiting) {
      reaches[index] = await reachOf(address, endsAt - performance.now());
    }
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT_CALLS }, askAll));
  return places.map(({ provider, address }, index) => ({
    provider: provider.slug,
    has_credential: isAuthorized(provider),
    origin: address === undefined ? null : new URL(address).origin,
    reach: reaches[index] ?? null,
    last_failure: failureOf(provider, failures),
  }));
}

function placesOf({ providers }: Catalog): Place[] {
  return providers.flatMap((provider): Place[] => {
    if (provider.dialect === 'simulator') return [];
    const addresses = addressesOf(provider);
    const places: readonly (string | undefined)[] = addresses.length === 0 ? [undefined] : addresses;
    return places.map((address) => ({ provider, address }));
  });
}

async function reachOf(address: string | undefined, leftMs: number): Promise<ReachView | null> {
  if (address === undefined) return null;
  const limitMs = Math.min(SERVER_MS, Math.floor(leftMs));
  return limitMs <= 0 ? { ok: false, problem: NO_ANSWER } : reachView(await reach(address, limitMs));
}

function reachView(found: Reach): ReachView {
  if (!found.ok) return found;
  const { status, milliseconds, clockAheadMs = null } = found;
  return { ok: true, status, milliseconds, clock_ahead_ms: clockAheadMs };
}

/** The last failed call of a provider, as it is shown. */
export function failureOf(
  { slug }: Pick<Provider, 'slug'>,
  failures: LastFailures | undefined,
): ProviderView['last_failure'] {
  const found = failures?.of(slug);
  if (found === undefined) return null;
  const { atMs, model, status, errno = null, isOver } = found;
  return { at: new Date(atMs).toISOString(), model, status, errno, is_over: isOver };
}
