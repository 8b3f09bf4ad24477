import { GatewayError } from '../../ir/errors.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { Caller } from '../../ports/caller.ts';
import type { Limiter, RateLimit, RateVerdict, RateWindow } from '../../ports/limiter.ts';

/**
 * The limit that a route counts against: generations (also in flight), files, analytics queries, datasets; the
 * others have none.
 */
export type RateClass = 'generation' | 'files' | 'analytics' | 'datasets' | 'management' | 'public' | 'probe';

/** How many requests may be made; null = no limit. */
export interface RateSettings {
  readonly perKey: { readonly minute: number | null; readonly day: number | null };
  readonly analyticsPerMinute: number;
  readonly datasets: { readonly minute: number; readonly day: number };
}

/** One rule: whose requests are counted together, in which window, and how many there may be. */
interface RateRule {
  readonly name: string;
  readonly of: 'key' | 'account';
  readonly window: RateWindow;
  readonly maxRequests: (settings: RateSettings) => number | null;
}

const PER_KEY: readonly RateRule[] = [
  { name: 'requests-per-minute', of: 'key', window: 'minute', maxRequests: ({ perKey }) => perKey.minute },
  { name: 'requests-per-day', of: 'key', window: 'day', maxRequests: ({ perKey }) => perKey.day },
];

/** The rules of each class of routes; a class that is not here has none. */
const RULES: Readonly<Partial<Record<RateClass, readonly RateRule[]>>> = {
  generation: PER_KEY,
  files: PER_KEY,
  analytics: [
    {
      name: 'analytics-per-minute',
      of: 'key',
      window: 'minute',
      maxRequests: ({ analyticsPerMinute }) => analyticsPerMinute,
    },
  ],
  datasets: [
    {
      name: 'datasets-per-minute',
      of: 'key',
      window: 'minute',
      maxRequests: ({ datasets }) => datasets.minute,
    },
    { name: 'datasets-per-day', of: 'account', window: 'day', maxRequests: ({ datasets }) => datasets.day },
  ],
};

/** Counts a request of a caller; throws the 429 of a limit that is used up. */
export async function countRequest(
  rateClass: RateClass,
  { key, accountId }: Caller,
  settings: RateSettings,
  { limiter, clock }: { readonly limiter: Limiter; readonly clock: Pick<Clock, 'now'> },
): Promise<void> {
  const limits: RateLimit[] = [];
  for (const { name, of, window, maxRequests } of RULES[rateClass] ?? []) {
    const limit = maxRequests(settings);
    if (limit !== null)
      limits.push({ name, window, maxRequests: limit, subject: of === 'key' ? key.hash : accountId });
  }
  if (limits.length === 0) return;
  requirePassing(await limiter.take(limits), clock);
}

function requirePassing(verdict: RateVerdict, clock: Pick<Clock, 'now'>): void {
  if (verdict.ok) return;
  const { limit, resetAtMs } = verdict;
  const headers = {
    'X-RateLimit-Limit': String(limit.maxRequests),
    'X-RateLimit-Remaining': '0',
    'X-RateLimit-Reset': String(resetAtMs),
  };
  const seconds = Math.max(1, Math.ceil((resetAtMs - clock.now()) / 1000));
  throw new GatewayError(
    'rate-limited',
    `Rate limit exceeded: ${limit.name}. At most ${limit.maxRequests} requests a ${limit.window}; try ` +
      `again in ${seconds} s.`,
    { headers, metadata: { headers, limit_source: 'gateway' }, retryAfterSeconds: seconds },
  );
}
