import type { Tier } from '../catalog/endpoint-tier.ts';
import type { DialectName } from '../ir/items.ts';
import { NO_ENTRIES, type TranslationEntry } from '../ir/metadata.ts';
import type { GenerationRequest } from '../ir/request.ts';
import type { JsonObject } from '../kit/json/json.ts';
import { membersBeyond } from '../kit/json/members.ts';
import type { FittedRequest } from './fit-reasoning.ts';

/** Words for tiers that have endpoints, and so prices, of their own. */
const TIER_OF: ReadonlyMap<string, Tier> = new Map([
  ['flex', 'flex'],
  ['priority', 'priority'],
  ['fast', 'priority'],
]);

/** A tier that is served as the standard one. */
const SCALE = 'scale';

/** Members of bodies by which a tier is asked for. */
const TIER_MEMBERS: ReadonlySet<string> = new Set(['service_tier', 'speed']);

/** Dialects that are asked for a speed, and for which; all others are told the service tier. */
const WORDS: Readonly<Partial<Record<DialectName, Readonly<Partial<Record<Tier, 'fast'>>>>>> = {
  messages: { priority: 'fast' },
};

/**
 * Asks the upstream for the tier that the endpoint is priced for, and for no other: what is served is what is billed.
 * The tier of a request decides between endpoints, which is done by then.
 */
export function fitTier(
  request: GenerationRequest,
  tier: Tier | undefined,
  dialect: DialectName,
): FittedRequest {
  const asked = askedTier(request);
  if (tier === undefined) {
    const report = asked === undefined ? NO_ENTRIES : [lost(request, asked, 'dropped', OF_STANDARD_TIER)];
    return asked === undefined ? { request, report } : { request: without(request), report };
  }
  const report =
    asked === undefined || TIER_OF.get(asked) === tier
      ? NO_ENTRIES
      : [lost(request, asked, 'coerced', `the endpoint that serves is of the tier ${tier}`)];
  return { request: withTier(without(request), tier, dialect), report };
}

const OF_STANDARD_TIER = 'the endpoint that serves is of the standard tier';

/** The request in the words that the dialect has for a tier; as it is where it has none. */
function withTier(bare: GenerationRequest, tier: Tier, dialect: DialectName): GenerationRequest {
  const word = WORDS[dialect]?.[tier];
  if (word !== undefined) return { ...bare, speed: word, body: { ...bare.body, speed: word } };
  if (WORDS[dialect] !== undefined) return bare;
  return { ...bare, serviceTier: tier, body: { ...bare.body, service_tier: tier } };
}

/** The tier of its own that a request asks for, in its own word. */
function askedTier({ serviceTier, speed }: GenerationRequest): string | undefined {
  if (serviceTier !== undefined && (TIER_OF.has(serviceTier) || serviceTier === SCALE)) return serviceTier;
  return speed === 'fast' ? speed : undefined;
}

function without(request: GenerationRequest): GenerationRequest {
  const { serviceTier: _tier, speed: _speed, ...rest } = request;
  return { ...rest, body: membersBeyond(request.body, TIER_MEMBERS) as JsonObject };
}

function lost(
  { serviceTier }: GenerationRequest,
  asked: string,
  action: TranslationEntry['action'],
  detail: string,
): TranslationEntry {
  return { field: asked === serviceTier ? 'service_tier' : 'speed', action, detail };
}
