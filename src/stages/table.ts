import { WEB, WEB_FETCH } from '../ir/web-notes.ts';
import type { GrantedServers } from '../mcp/granted-servers.ts';
import type { Egress } from '../net/egress/egress.ts';
import type { ResponseCache } from '../ports/content/response-cache.ts';
import type { WorkspaceFiles } from '../tools/server-tool.ts';
import { compileFilters } from './guardrails/filters/filter-set.ts';
import type { GuardrailMetrics } from './guardrails/guardrail-metrics.ts';
import { guardrailStages } from './guardrails/guardrail-stage.ts';
import type { JudgesFor } from './guardrails/judges/judge.ts';
import { FILE_PARSER, fileParserStage } from './plugins/file-parser/file-parser-stage.ts';
import { FileTexts } from './plugins/file-parser/file-texts.ts';
import { MODERATION, moderationStage } from './plugins/moderation/moderation-stage.ts';
import { RESPONSE_HEALING, responseHealingStage } from './plugins/response-healing/response-healing-stage.ts';
import { webStage } from './plugins/web/web-stage.ts';
import { webFetchStage } from './plugins/web-fetch/web-fetch-stage.ts';
import { responseCacheStage } from './response-cache.ts';
import type { Stage } from './stage.ts';
import { toolLoopStage } from './tool-loop/tool-loop-stage.ts';

export interface StageDependencies {
  readonly cache: ResponseCache;
  readonly egress: Egress;
  readonly files: WorkspaceFiles;
  readonly judgesFor: JudgesFor;
  readonly guardrailMetrics: GuardrailMetrics;
  readonly mcpServers: GrantedServers;
}

/** Dependencies of rows: the guardrails are one object that runs at three places. */
interface RowDependencies extends StageDependencies {
  readonly guardrails: ReturnType<typeof guardrailStages>;
  readonly fileTexts: FileTexts;
}

interface Row {
  /** Id of the plugin by which requests ask for the stage; absent = they do not. */
  readonly pluginId?: string;
  readonly stage: (dependencies: RowDependencies) => Stage;
}

/** All stages, in order: the first runs first before planning, and is outermost around legs. */
const OUTER: readonly Row[] = [
  { stage: ({ guardrails }) => guardrails.first },
  { pluginId: MODERATION, stage: ({ egress }) => moderationStage(egress) },
  { pluginId: FILE_PARSER, stage: ({ egress, fileTexts }) => fileParserStage(egress, fileTexts) },
  // Scans the text of parsed files, and of those that go to the model as they are.
  { stage: ({ guardrails }) => guardrails.again },
  // Before the plugins that look at the web: an answer that is kept needs no search.
  { stage: ({ cache }) => responseCacheStage(cache) },
  { pluginId: WEB, stage: ({ egress }) => webStage(egress) },
  { pluginId: WEB_FETCH, stage: ({ egress }) => webFetchStage(egress) },
  { pluginId: RESPONSE_HEALING, stage: () => responseHealingStage },
  { stage: ({ guardrails }) => guardrails.shownResults },
  // Inside of the plugins: it runs the legs.
  { stage: ({ egress, files, mcpServers }) => toolLoopStage({ egress, files }, mcpServers) },
];

export const STAGE_PLUGINS: readonly string[] = OUTER.flatMap(({ pluginId }) => pluginId ?? []);

/** The stages of a gateway. `additional`: stages inside all others but the guardrails around legs. */
export function stageTable(
  dependencies: StageDependencies,
  additional: readonly Stage[] = [],
): readonly Stage[] {
  const { judgesFor, guardrailMetrics: metrics } = dependencies;
  const fileTexts = new FileTexts(dependencies.egress);
  const guardrails = guardrailStages({ compileFilters, judgesFor, metrics, filesAsText: fileTexts.asText });
  const outer = OUTER.map(({ stage }) => stage({ ...dependencies, guardrails, fileTexts }));
  return [...outer, ...additional, guardrails.innermost];
}
