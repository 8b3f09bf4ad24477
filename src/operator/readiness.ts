import type { Catalog } from '../catalog/catalog.ts';
import type { PartState, ReadinessParts } from '../contract/envelopes/health.ts';
import { countText } from '../kit/text/count-text.ts';
import type { EventStore } from '../ports/events/events.ts';
import type { Admitting, Ledger } from '../ports/money/ledger.ts';
import type { Health } from '../routing/health/health.ts';

export interface ReadinessSources {
  readonly ledger: Pick<Ledger, 'admitting' | 'disk'>;
  readonly isDatabaseUp: () => boolean;
  readonly events: Pick<EventStore, 'isAvailable'>;
  readonly health: Pick<Health, 'coolingSites'>;
  readonly catalog: () => Catalog;
  /** Whether Redis answers; absent = there is none. */
  readonly isRedisUp?: (() => boolean) | undefined;
}

const OK: PartState = { status: 'ok' };

/** While the database answers, only its clock can be why limited work is refused. */
const LEDGER_STATES: Readonly<Record<Admitting, PartState>> = {
  all: OK,
  unlimited: {
    status: 'limited',
    reason: 'the clocks of this gateway and its database differ: only what no limit covers is admitted',
  },
  none: { status: 'unavailable', reason: 'the ledger cannot be written, so that no generation is admitted' },
};

const CUT_OFF: PartState = {
  status: 'limited',
  reason: 'the database does not answer: only what no limit covers, or a slice pays for, is admitted',
};

/** The state of each part now. Reads memory only. */
export function readinessParts(sources: ReadinessSources): ReadinessParts {
  const { ledger, isDatabaseUp, events, isRedisUp } = sources;
  return {
    ledger: ledgerState(ledger, isDatabaseUp()),
    store: isDatabaseUp() ? OK : { status: 'unavailable', reason: 'the database does not answer' },
    events: events.isAvailable ? OK : { status: 'unavailable', reason: 'the last work on events failed' },
    providers: providersState(sources),
    ...(isRedisUp !== undefined && { redis: isRedisUp() ? OK : REDIS_AWAY }),
  };
}

const REDIS_AWAY: PartState = {
  status: 'limited',
  reason: 'Redis does not answer: this gateway admits its share of request limits and routes by itself',
};

/** A short wait for the disk leaves the gateway ready: generations wait with it. */
function ledgerState({ admitting, disk }: ReadinessSources['ledger'], isDatabaseUp: boolean): PartState {
  const { waitingMs } = disk;
  if (waitingMs === 0) return admitting === 'unlimited' && !isDatabaseUp ? CUT_OFF : LEDGER_STATES[admitting];
  return {
    status: admitting === 'none' ? 'unavailable' : 'limited',
    reason: `the ledger waits for its disk, for ${(waitingMs / 1000).toFixed(1)} s by now`,
  };
}

function providersState({ health, catalog }: ReadinessSources): PartState {
  const { models } = catalog();
  if (!models.some(({ endpoints }) => endpoints.length > 0)) {
    return { status: 'unavailable', reason: 'no provider serves a model' };
  }
  const cooling = new Set(
    health.coolingSites().flatMap(({ site, accounts }) => (accounts === 0 ? [site] : [])),
  );
  if (cooling.size === 0) return OK;
  let all = 0;
  let ill = 0;
  for (const { endpoints } of models) {
    all += endpoints.length;
    for (const { site } of endpoints) if (cooling.has(site)) ill++;
  }
  if (ill === 0) return OK;
  const reason = `${ill} of ${countText(all, 'endpoint')} ${ill === 1 ? 'cools' : 'cool'} down after failures`;
  return { status: ill === all ? 'unavailable' : 'limited', reason };
}
