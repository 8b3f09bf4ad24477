import type { Tier } from '../catalog/endpoint-tier.ts';
import type { DialectName } from '../ir/items.ts';
import type { TranslationEntry } from '../ir/metadata.ts';
import type { GenerationRequest } from '../ir/request.ts';
import type { JsonObject } from '../kit/json.ts';
import { membersBeyond } from '../kit/members.ts';
import type { FittedRequest } from './fit-reasoning.ts';

/** Tiers that have endpoints, and so prices, of their own; `fast` is another word for `priority`. */
const PRICED_TIERS: ReadonlySet<string> = new Set(['flex', 'priority', 'fast']);

/** Members of bodies by which a tier is asked for. */
const TIER_MEMBERS: ReadonlySet<string> = new Set(['service_tier', 'speed']);

/** How each dialect is asked for a tier; the others are told the service tier. */
const SPEEDS: Readonly<Partial<Record<DialectName, Readonly<Partial<Record<Tier, 'fast'>>>>>> = {
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
    return asked === undefined
      ? { request, report: [] }
      : { request: without(request), report: [lost(request, asked)] };
  }
  const speed = SPEEDS[dialect]?.[tier];
  const bare = without(request);
  const hasNoWord = dialect === 'messages' && speed === undefined;
  if (hasNoWord) return { request: bare, report: [] };
  return speed === undefined
    ? { request: { ...bare, serviceTier: tier, body: { ...bare.body, service_tier: tier } }, report: [] }
    : { request: { ...bare, speed, body: { ...bare.body, speed } }, report: [] };
}

/** The tier of its own that a request asks for, in its own word. */
function askedTier({ serviceTier, speed }: GenerationRequest): string | undefined {
  if (serviceTier !== undefined && PRICED_TIERS.has(serviceTier)) return serviceTier;
  return speed === 'fast' ? speed : undefined;
}

function without(request: GenerationRequest): GenerationRequest {
  const { serviceTier: _tier, speed: _speed, ...rest } = request;
  return { ...rest, body: membersBeyond(request.body, TIER_MEMBERS) as JsonObject };
}

function lost({ serviceTier }: GenerationRequest, asked: string): TranslationEntry {
  return {
    field: asked === serviceTier ? 'service_tier' : 'speed',
    action: 'dropped',
    detail: 'the endpoint that serves is of the standard tier',
  };
}
