import type { Tier } from '../../catalog/service-tier.ts';
import { NO_ENTRIES, type TranslationEntry } from '../../ir/metadata.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { membersBeyond, textAt } from '../../kit/json/members.ts';
import type { DialectFacts } from '../dialect-facts.ts';
import type { FittedRequest } from './fit-reasoning.ts';

/** Words for tiers that have endpoints, and so prices, of their own. */
const TIER_OF: ReadonlyMap<string, Tier> = new Map([
  ['flex', 'flex'],
  ['priority', 'priority'],
  ['fast', 'priority'],
  ['ultrafast', 'ultrafast'],
]);

/** Words that request no special tier. */
const NO_TIER: ReadonlySet<string> = new Set(['auto', 'default', 'standard_only']);

const TIER_MEMBERS: ReadonlySet<string> = new Set(['service_tier', 'speed']);

/**
 * Requests the tier that the endpoint is priced for, and no other: the served tier is the billed one. By now the
 * request's own tier has decided between endpoints.
 */
export function fitTier(
  request: GenerationRequest,
  tier: Tier | undefined,
  facts: Pick<DialectFacts, 'speeds'>,
): FittedRequest {
  const asked = askedTier(request);
  if (tier === undefined) {
    const report = asked === undefined ? NO_ENTRIES : [lost(request, asked, 'dropped', OF_STANDARD_TIER)];
    return asked === undefined ? { request, report } : { request: without(request), report };
  }
  const report = asked === undefined ? NO_ENTRIES : lossesOf(request, asked, tier, facts);
  return { request: withTier(without(request), tier, facts), report };
}

function lossesOf(
  request: GenerationRequest,
  asked: string,
  tier: Tier,
  { speeds }: Pick<DialectFacts, 'speeds'>,
): readonly TranslationEntry[] {
  if (TIER_OF.get(asked) !== tier) {
    return [lost(request, asked, 'coerced', `the endpoint that serves is of the tier ${tier}`)];
  }
  const isSent = speeds === undefined || speeds[tier] !== undefined;
  return isSent ? NO_ENTRIES : [lost(request, asked, 'dropped', NO_SUCH_TIER)];
}

const OF_STANDARD_TIER = 'the endpoint that serves is of the standard tier';
const NO_SUCH_TIER = 'the upstream has no such tier';

/** The request with the dialect's speed or service tier; unchanged if it has no word for the tier. */
function withTier(
  bare: GenerationRequest,
  tier: Tier,
  { speeds }: Pick<DialectFacts, 'speeds'>,
): GenerationRequest {
  const speed = speeds?.[tier];
  if (speed !== undefined) return { ...bare, speed, body: { ...bare.body, speed } };
  if (speeds !== undefined) return bare;
  return { ...bare, serviceTier: tier, body: { ...bare.body, service_tier: tier } };
}

/**
 * The special tier that a request asks for, in its own word: one that we do not know has no price here. Bodies of
 * every format are looked at: the relay lane sends a `speed` that the format does not document too.
 */
function askedTier({ serviceTier, speed, body }: GenerationRequest): string | undefined {
  if (serviceTier !== undefined && !NO_TIER.has(serviceTier)) return serviceTier;
  const asked = speed ?? textAt(body, 'speed');
  return asked === undefined || asked === 'standard' ? undefined : asked;
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
