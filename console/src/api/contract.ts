/** The objects of the interface: the types that the gateway itself uses. */

export type {
  AnalyticsAnswer,
  AnalyticsMeta,
  AnalyticsQuery,
  AnalyticsRow,
} from '../../../src/contract/analytics/analytics.ts';
export type { AppRankingsReply } from '../../../src/contract/analytics/dataset-app-rankings.ts';
export type { RankingsDailyReply } from '../../../src/contract/analytics/dataset-rankings-daily.ts';
export type {
  Overview,
  OverviewDimension,
  OverviewFigures,
  OverviewSums,
} from '../../../src/contract/analytics/overview.ts';
export type { Explanation } from '../../../src/contract/catalog/explanation.ts';
export type { ModelObject } from '../../../src/contract/catalog/model.ts';
export type { ProviderStateObject } from '../../../src/contract/gateway/provider-state.ts';
export type {
  GenerationCounts,
  GenerationsReply,
  LoggedGenerationObject,
} from '../../../src/contract/generations/generation-log.ts';
export type { GenerationRecord } from '../../../src/contract/generations/generation-record.ts';
export type { CurrentKey } from '../../../src/contract/keys/current-key.ts';
export type { CreateKey, KeyObject, UpdateKey } from '../../../src/contract/keys/key.ts';
export type { SessionObject } from '../../../src/contract/sessions/session.ts';
export type { BudgetObject } from '../../../src/contract/workspaces/budget.ts';
export type { ByokObject, CreateByok, UpdateByok } from '../../../src/contract/workspaces/byok.ts';
export type { FileObject } from '../../../src/contract/workspaces/file.ts';
export type {
  CreateWorkspace,
  UpdateWorkspace,
  WorkspaceObject,
} from '../../../src/contract/workspaces/workspace.ts';
export type { RoutingMetadata } from '../../../src/ir/metadata.ts';
export type { Granularity } from '../../../src/ports/event-names.ts';
