import type { ResponseCache } from '../ports/response-cache.ts';
import { responseCacheStage } from './response-cache.ts';
import { responseHealingStage } from './response-healing.ts';
import type { Stage } from './stage.ts';

/** What stages work with. */
export interface StageParts {
  readonly cache: ResponseCache;
}

/** All stages, in the order in which each has its say: the first comes first before, and is outermost around. */
export function stageTable({ cache }: StageParts): readonly Stage[] {
  return [responseCacheStage(cache), responseHealingStage];
}
