import type { RateClass } from '../../endpoints/endpoint.ts';
import { GatewayError } from '../../ir/errors.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type {
  Limiter,
  RateCount,
  RateLimit,
  RateUnit,
  RateVerdict,
  RateWindow,
} from '../../ports/shared/limiter.ts';
import type { Caller } from '../../ports/tenancy/caller.ts';

/** Maximum in each window; null = no limit. */
export type PerWindow = Readonly<Record<RateWindow, number | null>>;

/** How many requests may be made, and how many tokens they may use. */
export interface RateSettings {
  readonly perKey: PerWindow;
  readonly tokensPerKey: PerWindow;
  readonly analyticsPerMinute: number;
  readonly datasets: { readonly minute: number; readonly day: number };
}

/** One rule: whose requests or tokens are counted together, in which window, and how many there may be. */
interface RateRule {
  readonly name: string;
  readonly of: 'key' | 'account';
  readonly window: RateWindow;
  readonly unit: RateUnit;
  readonly max: (settings: RateSettings, key: LimitedKey) => number | null;
  /** The key's own value, which `max` takes first; absent = keys have none. */
  readonly own?: (key: LimitedKey) => number | null;
}

/** The limits that a key has of its own, in place of those of all keys. */
type LimitedKey = Pick<Caller['key'], 'requestsPerMinute' | 'tokensPerMinute'>;

const REQUESTS_PER_KEY: readonly RateRule[] = [
  {
    name: 'requests-per-minute',
    of: 'key',
    window: 'minute',
    unit: 'requests',
    max: ({ perKey }, { requestsPerMinute }) => requestsPerMinute ?? perKey.minute,
    own: ({ requestsPerMinute }) => requestsPerMinute,
  },
  { name: 'requests-per-day', of: 'key', window: 'day', unit: 'requests', max: ({ perKey }) => perKey.day },
];

const TOKENS_PER_KEY: readonly RateRule[] = [
  {
    name: 'tokens-per-minute',
    of: 'key',
    window: 'minute',
    unit: 'tokens',
    max: ({ tokensPerKey }, { tokensPerMinute }) => tokensPerMinute ?? tokensPerKey.minute,
    own: ({ tokensPerMinute }) => tokensPerMinute,
  },
  {
    name: 'tokens-per-day',
    of: 'key',
    window: 'day',
    unit: 'tokens',
    max: ({ tokensPerKey }) => tokensPerKey.day,
  },
];

const PER_KEY: readonly RateRule[] = [...REQUESTS_PER_KEY, ...TOKENS_PER_KEY];

/** The rules of each class of routes; a class that is not here has none. */
const RULES: Readonly<Partial<Record<RateClass, readonly RateRule[]>>> = {
  generation: PER_KEY,
  files: REQUESTS_PER_KEY,
  analytics: [
    {
      name: 'analytics-per-minute',
      of: 'key',
      window: 'minute',
      unit: 'requests',
      max: ({ analyticsPerMinute }) => analyticsPerMinute,
    },
  ],
  datasets: [
    {
      name: 'datasets-per-minute',
      of: 'key',
      window: 'minute',
      unit: 'requests',
      max: ({ datasets }) => datasets.minute,
    },
    {
      name: 'datasets-per-day',
      of: 'account',
      window: 'day',
      unit: 'requests',
      max: ({ datasets }) => datasets.day,
    },
  ],
};

/** Counts a request of a caller, if limits apply; rejects with the 429 of one that is used up. */
export function countRequest(
  rateClass: RateClass,
  { key, accountId }: Caller,
  settings: RateSettings,
  { limiter, clock }: { readonly limiter: Limiter; readonly clock: Pick<Clock, 'now'> },
): Promise<void> | undefined {
  const limits: RateLimit[] = [];
  for (const { name, of, window, unit, max } of RULES[rateClass] ?? []) {
    const limit = max(settings, key);
    if (limit !== null)
      limits.push({ name, window, unit, max: limit, subject: of === 'key' ? key.hash : accountId });
  }
  if (limits.length === 0) return undefined;
  return limiter.take(limits).then((verdict) => requirePassing(verdict, key, clock));
}

/** Where the tokens of a settled generation are counted: nowhere if no limit covers them. */
export function tokenCounts(
  key: LimitedKey & Pick<Caller['key'], 'hash'>,
  tokens: number,
  settings: RateSettings,
): RateCount[] {
  if (tokens === 0) return [];
  return TOKENS_PER_KEY.filter(({ max }) => max(settings, key) !== null).map(({ name, window }) => ({
    name,
    window,
    subject: key.hash,
    amount: tokens,
  }));
}

function requirePassing(verdict: RateVerdict, key: LimitedKey, clock: Pick<Clock, 'now'>): void {
  if (verdict.ok) return;
  const { limit, resetAtMs } = verdict;
  const headers = {
    'X-RateLimit-Limit': String(limit.max),
    'X-RateLimit-Remaining': '0',
    'X-RateLimit-Reset': String(resetAtMs),
  };
  const seconds = Math.max(1, Math.ceil((resetAtMs - clock.now()) / 1000));
  const isOwn = PER_KEY.some(({ name, own }) => name === limit.name && typeof own?.(key) === 'number');
  throw new GatewayError(
    'rate-limited',
    `Rate limit exceeded: ${limit.name}. At most ${limit.max} ${limit.unit} a ${limit.window}; try ` +
      `again in ${seconds} s.`,
    {
      headers,
      metadata: { headers, limit_source: isOwn ? 'key' : 'gateway' },
      retryAfterSeconds: seconds,
    },
  );
}
