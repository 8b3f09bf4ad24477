/**
 * Routes 100,000 requests over endpoints with changing prices, latencies and outages, on a clock of its own, and prints
 * what share went where and how many callers saw an error. Exits with 1 when one did while an endpoint was healthy.
 *
 *     node scripts/bench.mjs simulate-routing [SEED]
 */
import type { GenerationRequest } from '../src/ir/request.ts';
import { NO_USAGE } from '../src/ir/usage.ts';
import type { JsonObject } from '../src/kit/json/json.ts';
import { parsePrice } from '../src/kit/money.ts';
import type { Clock } from '../src/kit/time/clock.ts';
import { conversationKeyOf } from '../src/routing/conversation/conversation-key.ts';
import { mayPin } from '../src/routing/conversation/may-pin.ts';
import { Pins } from '../src/routing/conversation/pins.ts';
import { Health } from '../src/routing/health/health.ts';
import { planRoute } from '../src/routing/plan-route.ts';
import { type RankedCandidate, siteOf } from '../src/routing/rules/candidate.ts';
import { needsOf } from '../src/routing/rules/needs.ts';
import { endpointOf, modelOf, providerOf } from '../test/kit/builders/catalog.ts';
import { requestOf } from '../test/kit/builders/request.ts';
import { EventQueue } from './event-queue.ts';
import { mulberry } from './mulberry.ts';

const REQUESTS = 100_000;
const REQUESTS_PER_SECOND = 50;
const DURATION_MS = (REQUESTS / REQUESTS_PER_SECOND) * 1000;
const ATTEMPTS = 3;
const COOLDOWN = { failures: 5, baseMs: 30_000, maxMs: 300_000 };
const STICKY_IDLE_MS = 600_000;

/** What goes wrong with an endpoint for a time; `from` and `to` are shares of the whole duration. */
interface Trouble {
  readonly from: number;
  readonly to: number;
  /** `refuses`: fails at once. `hangs`: fails after seconds. `limits`: a rate limit that says for how long. */
  readonly kind: 'refuses' | 'hangs' | 'limits' | 'slow';
  /** Share of the calls that it affects. */
  readonly share: number;
}

interface Site {
  readonly tag: string;
  /** USD per million tokens: `[share of the duration from which on, price]`. */
  readonly prices: readonly (readonly [number, string])[];
  readonly latencyMs: number;
  readonly tokensPerSecond: number;
  readonly troubles: readonly Trouble[];
}

/** Cheap endpoints fail, one after another and two at a time; the most expensive fails only when all do. */
const ALL_DOWN: Trouble = { from: 0.9, to: 0.93, kind: 'refuses', share: 1 };
const SITES: readonly Site[] = [
  {
    tag: 'cheap',
    prices: [
      [0, '1'],
      [0.5, '2'],
    ],
    latencyMs: 900,
    tokensPerSecond: 40,
    troubles: [
      { from: 0.1, to: 0.2, kind: 'refuses', share: 1 },
      { from: 0.3, to: 0.35, kind: 'hangs', share: 0.5 },
      ALL_DOWN,
    ],
  },
  {
    tag: 'fair',
    prices: [
      [0, '2'],
      [0.6, '1'],
    ],
    latencyMs: 500,
    tokensPerSecond: 60,
    troubles: [
      { from: 0.15, to: 0.25, kind: 'limits', share: 0.4 },
      { from: 0.7, to: 0.8, kind: 'refuses', share: 1 },
      ALL_DOWN,
    ],
  },
  {
    tag: 'fast',
    prices: [[0, '3']],
    latencyMs: 150,
    tokensPerSecond: 150,
    troubles: [
      { from: 0.4, to: 0.5, kind: 'slow', share: 1 },
      { from: 0.72, to: 0.78, kind: 'hangs', share: 1 },
      ALL_DOWN,
    ],
  },
  { tag: 'dear', prices: [[0, '9']], latencyMs: 400, tokensPerSecond: 80, troubles: [ALL_DOWN] },
];

const CALLERS: readonly { readonly name: string; readonly share: number; readonly provider: JsonObject }[] = [
  { name: 'default', share: 0.6, provider: {} },
  { name: 'sort price', share: 0.1, provider: { sort: 'price' } },
  { name: 'sort latency', share: 0.1, provider: { sort: 'latency' } },
  { name: 'sort throughput', share: 0.1, provider: { sort: 'throughput' } },
  { name: 'conversations', share: 0.1, provider: {} },
];
const CONVERSATIONS = 500;

const seed = Number(process.argv[2] ?? 1);
const random = mulberry(seed);

let nowMs = 0;
const clock: Clock = { now: () => 1_760_000_000_000 + nowMs, monotonic: () => nowMs };
const queue = new EventQueue();
const health = new Health({ clock, random, settings: () => COOLDOWN });
const pins = new Pins({ clock, idleMs: () => STICKY_IDLE_MS });

interface Tally {
  served: number;
  errors: number;
  attempts: number;
}

const served = new Map<string, number>();
const tallies = { healthy: tally(), dead: tally(), recovering: tally() };
/** No answer since all endpoints went down. */
let isRecovering = false;
const sticky = { kept: 0, moved: 0 };
let planningMs = 0;

for (let index = 0; index < REQUESTS; index++) {
  queue.add((index + random()) * (1000 / REQUESTS_PER_SECOND), arrive);
}
for (let event = queue.next(); event !== undefined; event = queue.next()) {
  nowMs = event.atMs;
  event.run();
}
report();

function arrive(): void {
  const caller = drawCaller();
  const request = requestFor(caller);
  const conversation = conversationKeyOf(request, { accountId: 'account', modelId: 'sim/model' });
  const isNamed = conversation?.kind === 'explicit';
  const pin = isNamed ? pins.find(conversation.key) : undefined;
  const started = performance.now();
  const { ranked } = planRoute({
    request,
    needs: needsOf(request),
    models: [{ name: 'sim/model', model: modelNow(), variants: [] }],
    byok: [],
    callerRules: [],
    mayRelay: true,
    health,
    pin: pin?.site,
    random,
  });
  planningMs += performance.now() - started;
  attempt({
    ranked,
    caller: caller.name,
    tried: new Set(),
    tally: tallies[phase()],
    onServed: (candidate) => {
      const site = siteOf(candidate.endpoint, candidate.access);
      if (!isNamed) return;
      if (pin !== undefined) sticky[pin.site === site ? 'kept' : 'moved']++;
      const { endpoint } = candidate;
      if (mayPin({ kind: conversation.kind, usage: NO_USAGE, endpoint, hasOrder: false })) {
        pins.pin(conversation.key, { site, modelId: endpoint.modelId });
      }
    },
  });
}

interface Errand {
  readonly ranked: readonly RankedCandidate[];
  readonly caller: string;
  readonly tried: Set<RankedCandidate>;
  readonly tally: Tally;
  readonly onServed: (candidate: RankedCandidate) => void;
}

/** Calls the next candidate that may be called; when it fails, once more. */
function attempt(errand: Errand): void {
  const { ranked, tried, tally: counts } = errand;
  if (tried.size >= ATTEMPTS) return void counts.errors++;
  for (const candidate of ranked) {
    if (tried.has(candidate)) continue;
    const ticket = health.enter(siteOf(candidate.endpoint, candidate.access), {
      isRetry: tried.size > 0,
      isLastCandidate: ranked.every((each) => tried.has(each) || isAway(each)),
    });
    if (ticket === undefined) continue;
    tried.add(candidate);
    counts.attempts++;
    call(candidate, ticket, errand);
    return;
  }
  counts.errors++;
}

function isAway({ endpoint, access }: RankedCandidate): boolean {
  const { state, pausedUntilMs } = health.of(siteOf(endpoint, access));
  return state === 'cooling' || pausedUntilMs > 0;
}

function call(
  candidate: RankedCandidate,
  ticket: NonNullable<ReturnType<Health['enter']>>,
  errand: Errand,
): void {
  const site = SITES.find(({ tag }) => tag === candidate.endpoint.tag)!;
  const trouble = troubleOf(site);
  if (trouble !== undefined && trouble.kind !== 'slow' && random() < trouble.share) {
    const isRateLimit = trouble.kind === 'limits';
    queue.add(nowMs + (trouble.kind === 'hangs' ? 5000 : 20), () => {
      ticket.failed({ counts: true, isRateLimit, ...(isRateLimit && { retryAfterMs: 2000 }) });
      attempt(errand);
    });
    return;
  }
  const slowness = trouble?.kind === 'slow' ? 10 : 1;
  const outputTokens = 50 + Math.floor(random() * 300);
  const firstMs = nowMs + site.latencyMs * slowness * (0.7 + 0.6 * random());
  queue.add(firstMs, () => {
    ticket.firstToken();
    isRecovering = false;
  });
  queue.add(firstMs + (outputTokens * 1000) / (site.tokensPerSecond / slowness), () => {
    ticket.succeeded({ outputTokens, toolCalls: 'none' });
    errand.tally.served++;
    const key = `${errand.caller}\n${site.tag}`;
    served.set(key, (served.get(key) ?? 0) + 1);
    errand.onServed(candidate);
  });
}

function troubleOf(site: Site): Trouble | undefined {
  const share = nowMs / DURATION_MS;
  return site.troubles.find(({ from, to }) => share >= from && share < to);
}

/** The gateway learns only by the next call that a provider works again: until then it is recovering. */
function phase(): keyof typeof tallies {
  if (SITES.every(isDown)) {
    isRecovering = true;
    return 'dead';
  }
  return isRecovering ? 'recovering' : 'healthy';
}

function isDown(site: Site): boolean {
  const trouble = troubleOf(site);
  return trouble !== undefined && trouble.kind !== 'slow' && trouble.share === 1;
}

function priceOf({ prices }: Site): string {
  const share = nowMs / DURATION_MS;
  return prices.findLast(([from]) => share >= from)![1];
}

function modelNow() {
  return modelOf({
    id: 'sim/model',
    endpoints: SITES.map((site) => {
      const price = (parsePrice(priceOf(site)) ?? 0n) / 1_000_000n;
      return endpointOf({
        provider: providerOf({ slug: site.tag, name: site.tag }),
        tag: site.tag,
        modelId: 'sim/model',
        pricing: { prompt: price, completion: price },
      });
    }),
  });
}

function drawCaller() {
  let left = random();
  return (
    CALLERS.find(({ share }) => {
      left -= share;
      return left < 0;
    }) ?? CALLERS[0]!
  );
}

function requestFor({ name, provider }: (typeof CALLERS)[number]): GenerationRequest {
  const sessionId = name === 'conversations' ? `session-${Math.floor(random() * CONVERSATIONS)}` : undefined;
  return requestOf({
    models: ['sim/model'],
    wishes: { provider, plugins: [], ...(sessionId !== undefined && { sessionId }) },
  });
}

function tally(): Tally {
  return { served: 0, errors: 0, attempts: 0 };
}

function report(): void {
  const percent = (part: number, whole: number) => `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;
  console.log(`${REQUESTS} requests in ${DURATION_MS / 1000} simulated seconds, seed ${seed}\n`);
  console.log(['share of answers'.padEnd(18), ...SITES.map(({ tag }) => tag.padStart(8))].join(' '));
  for (const { name } of CALLERS) {
    const counts = SITES.map(({ tag }) => served.get(`${name}\n${tag}`) ?? 0);
    const whole = counts.reduce((sum, count) => sum + count, 0);
    console.log([name.padEnd(18), ...counts.map((count) => percent(count, whole).padStart(8))].join(' '));
  }
  const phases = [
    ['an endpoint was healthy', tallies.healthy],
    ['none was', tallies.dead],
    ['the first probe after that', tallies.recovering],
  ] as const;
  console.log('');
  for (const [name, { served: answers, errors, attempts }] of phases) {
    const calls = (attempts / Math.max(1, answers + errors)).toFixed(3);
    console.log(`while ${name}: ${answers} answers, ${errors} errors, ${calls} calls a request`);
  }
  console.log(`conversations that stayed: ${percent(sticky.kept, sticky.kept + sticky.moved)}`);
  console.log(`planning: ${((1000 * planningMs) / REQUESTS).toFixed(1)} µs a request`);
  if (tallies.healthy.errors > 0) process.exitCode = 1;
}
