import type { Egress } from '../egress/egress.ts';
import type { ResponseCache } from '../ports/response-cache.ts';
import { compileFilters } from './guardrails/filters/filter-set.ts';
import { type GuardrailMetrics, guardrailStages } from './guardrails/guardrail-stage.ts';
import { fileParserStage } from './plugins/file-parser/file-parser-stage.ts';
import { moderationStage } from './plugins/moderation/moderation-stage.ts';
import { webStage } from './plugins/web/web-stage.ts';
import { webFetchStage } from './plugins/web-fetch/web-fetch-stage.ts';
import { responseCacheStage } from './response-cache.ts';
import { responseHealingStage } from './response-healing.ts';
import type { Stage } from './stage.ts';

/** Dependencies of stages. */
export interface StageDependencies {
  readonly cache: ResponseCache;
  readonly egress: Egress;
  readonly guardrailMetrics: GuardrailMetrics;
}

/**
 * All stages, in order: the first runs first before planning, and is outermost around legs. `additional`: stages
 * inside all others but the guardrails around legs.
 */
export function stageTable(
  { cache, egress, guardrailMetrics: metrics }: StageDependencies,
  additional: readonly Stage[] = [],
): readonly Stage[] {
  const guardrails = guardrailStages({ compileFilters, metrics });
  return [
    guardrails.first,
    moderationStage(egress),
    fileParserStage(egress),
    // The texts of files that were read.
    guardrails.again,
    // Before the plugins that look at the web: an answer that is kept needs no search.
    responseCacheStage(cache),
    webStage(egress),
    webFetchStage(egress),
    responseHealingStage,
    ...additional,
    guardrails.innermost,
  ];
}
