import { openInstallation } from '../../../src/app/installation.ts';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { hashSecret } from '../../../src/manage/keys/hash-secret.ts';
import type { GenerationEvent } from '../../../src/ports/events/events.ts';
import { eventHistory, HISTORY_START_MS } from '../../kit/builders/event-history.ts';
import { insertKeys } from '../../kit/builders/many-keys.ts';

/** An installation that has been used for days, with very many keys. */

const DAY_MS = 86_400_000;
const DAYS = 4;
const GENERATIONS = 20_000;
export const MANY_KEYS = 100_000;

/** No generation of the history took longer, milliseconds. */
export const LONGEST_MS = 2_500;

/** Keys of the history, in the configuration file, so that their secrets are known here. */
const NAMES = [
  'checkout',
  'support-bot',
  'search-index',
  'nightly-batch',
  'notebooks',
  'mobile-app',
  'evaluation-of-the-translations-into-all-languages',
] as const;

const secretOf = (name: string): string => `sk-sb-v1-${name}-of-the-tests`;
const hashOf = (name: string): string => hashSecret(secretOf(name));

/** The key that spent most on every day, and what a request of it needs. */
export const DEAREST_KEY = { name: 'nightly-batch', secret: secretOf('nightly-batch') } as const;

/** Its requests cost so much more than those of others. */
const DEARER_BY = 5n;

export const LARGE_CONFIGURATION: JsonObject = {
  limits: { analytics_per_minute: 100_000 },
  workspaces: [
    {
      name: 'Products',
      slug: 'products',
      keys: NAMES.map((name) => ({ name, hash: hashOf(name) })),
    },
  ],
};

/** Fills a new data directory. */
export async function fillLargeInstallation(dataDir: string): Promise<void> {
  const installation = await openInstallation({ dataDir, keyPrefix: 'sk-sb-v1-' });
  const { id: accountId } = await installation.accounts.ensureFirst();
  await installation.eventStore.append([...history(accountId)]);
  const { workspaces } = await installation.tenancy.listWorkspaces(accountId, { offset: 0, limit: 1 });
  await installation.close();
  insertKeys(dataDir, { count: MANY_KEYS, accountId, workspaceId: workspaces[0]?.id ?? '' });
}

/** Until a moment ago. */
function* history(accountId: string): Generator<GenerationEvent> {
  const shiftMs = Date.now() - DAYS * DAY_MS - HISTORY_START_MS;
  for (const event of eventHistory(GENERATIONS, DAYS)) {
    const name = NAMES[Number(event.keyHash?.slice('key-'.length) ?? -1)];
    const { creditNanos, latencyMs, log } = event;
    yield {
      ...event,
      accountId,
      keyHash: name === undefined ? null : hashOf(name),
      createdAtMs: event.createdAtMs + shiftMs,
      creditNanos: name === DEAREST_KEY.name ? creditNanos * DEARER_BY : creditNanos,
      latencyMs: latencyMs === null ? null : latencyMs % (LONGEST_MS / 2),
      ...(log && { log: { ...log, durationMs: log.durationMs % LONGEST_MS } }),
      isImported: true,
    };
  }
}
