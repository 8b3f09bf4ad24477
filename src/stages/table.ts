import type { ResponseCache } from '../ports/response-cache.ts';
import { responseCacheStage } from './response-cache.ts';
import { responseHealingStage } from './response-healing.ts';
import type { Stage } from './stage.ts';

/** What stages work with. */
export interface StageParts {
  readonly cache: ResponseCache;
}

/** All stages, in order: the first runs first before planning, and is outermost around legs. */
export function stageTable({ cache }: StageParts): readonly Stage[] {
  return [responseCacheStage(cache), responseHealingStage];
}
