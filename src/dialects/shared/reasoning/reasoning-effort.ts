import type { GenerationRequest } from '../../../ir/request.ts';
import type { Effort, ReasoningSettings } from '../../../ir/settings.ts';
import type { RenderTarget } from '../../dialect.ts';

/** Share of the output limit that each effort may spend on thinking. */
const EFFORT_SHARE: Readonly<Record<Effort, number>> = {
  max: 0.95,
  xhigh: 0.95,
  high: 0.8,
  medium: 0.5,
  low: 0.2,
  minimal: 0.1,
  none: 0,
};

/** Upstreams refuse a smaller thinking budget. */
export const MIN_BUDGET_TOKENS = 1024;
const MAX_BUDGET_TOKENS = 128_000;

export function effortOf(settings: ReasoningSettings | undefined): Effort | undefined {
  if (settings === undefined) return undefined;
  if (settings.effort !== undefined) return settings.effort;
  if (settings.enabled === false) return 'none';
  return settings.enabled === true && settings.budgetTokens === undefined ? 'medium' : undefined;
}

/** Output limit of an upstream, tokens, if neither the request nor the catalogue names one. */
const ASSUMED_OUTPUT_TOKENS = 32_000;

/** The output limit that budgets are shares of: the caller's, else the endpoint's, else `assumed`. */
export function thinkingLimit(
  { requestedOutputTokens }: Pick<GenerationRequest, 'requestedOutputTokens'>,
  { outputLimit }: Pick<RenderTarget, 'outputLimit'>,
  assumed = ASSUMED_OUTPUT_TOKENS,
): number {
  return requestedOutputTokens ?? outputLimit ?? assumed;
}

export function budgetOf(effort: Effort, outputLimit: number): number {
  const tokens = Math.floor(outputLimit * EFFORT_SHARE[effort]);
  return Math.max(Math.min(tokens, MAX_BUDGET_TOKENS), MIN_BUDGET_TOKENS);
}

export function effortNearest(budgetTokens: number, outputLimit: number): Effort {
  const share = budgetTokens / outputLimit;
  const words: Effort[] = ['minimal', 'low', 'medium', 'high'];
  let nearest: Effort = 'minimal';
  for (const word of words) {
    if (Math.abs(EFFORT_SHARE[word] - share) < Math.abs(EFFORT_SHARE[nearest] - share)) nearest = word;
  }
  return nearest;
}

/** From the lowest to the highest. */
const EFFORTS: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/**
 * The effort, or the upstream's highest if that is lower. `usual`: the highest effort of the dialect. If the model's
 * efforts are known, the request already has one of them.
 */
export function effortWithin(
  effort: Effort,
  usual: Effort,
  { quirks, supportedEfforts }: RenderTarget,
): Effort {
  const highest = quirks?.highestEffort ?? usual;
  const isKnown = supportedEfforts?.includes(effort) === true;
  return isKnown || EFFORTS.indexOf(effort) <= EFFORTS.indexOf(highest) ? effort : highest;
}

export function nearestEffortDetail(sent: Effort): string {
  return `became ${sent}, the highest that the upstream knows`;
}
