import type { Egress } from '../egress/egress.ts';
import type { ResponseCache } from '../ports/response-cache.ts';
import { fileParserStage } from './plugins/file-parser/file-parser-stage.ts';
import { moderationStage } from './plugins/moderation/moderation-stage.ts';
import { webStage } from './plugins/web/web-stage.ts';
import { webFetchStage } from './plugins/web-fetch/web-fetch-stage.ts';
import { responseCacheStage } from './response-cache.ts';
import { responseHealingStage } from './response-healing.ts';
import type { Stage } from './stage.ts';

/** Dependencies of stages. */
export interface StageParts {
  readonly cache: ResponseCache;
  readonly egress: Egress;
}

/** All stages, in order: the first runs first before planning, and is outermost around legs. */
export function stageTable({ cache, egress }: StageParts): readonly Stage[] {
  return [
    moderationStage(egress),
    fileParserStage(egress),
    // Before the plugins that look at the web: an answer that is kept needs no search.
    responseCacheStage(cache),
    webStage(egress),
    webFetchStage(egress),
    responseHealingStage,
  ];
}
