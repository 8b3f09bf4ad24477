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
export type { EndpointListObject } from '../../../src/contract/catalog/endpoint.ts';
export type { Explanation } from '../../../src/contract/catalog/explanation.ts';
export type { ModelObject } from '../../../src/contract/catalog/model.ts';
export type {
  ClassifierObject,
  CreateClassifier,
  UpdateClassifier,
} from '../../../src/contract/classifiers/classifier.ts';
export type { ClassifierRunObject } from '../../../src/contract/classifiers/run.ts';
export type { ClassifierTrialObject } from '../../../src/contract/classifiers/trial.ts';
export type {
  ConnectionTestObject,
  CreateDestination,
  DestinationObject,
  UpdateDestination,
} from '../../../src/contract/destinations/destination.ts';
export type {
  DestinationTypeObject,
  DestinationTypes,
} from '../../../src/contract/destinations/destination-type.ts';
export type {
  ConfigurationObject,
  ConfigurationProblem,
  ConfigurationValue,
  FindingsObject,
  PresetObject,
} from '../../../src/contract/gateway/configuration.ts';
export type {
  CreateGatewayProvider,
  GatewayProviderObject,
  ProviderTestObject,
  UpdateGatewayProvider,
} from '../../../src/contract/gateway/gateway-provider.ts';
export type { PriceChangeObject } from '../../../src/contract/gateway/price-change.ts';
export type {
  EndpointStateObject,
  ProviderStateObject,
  ServiceChangeObject,
} from '../../../src/contract/gateway/provider-state.ts';
export type { UptimeObject } from '../../../src/contract/gateway/uptime.ts';
export type {
  ConversationObject,
  ConversationsReply,
} from '../../../src/contract/generations/conversation.ts';
export type {
  GenerationCounts,
  GenerationsReply,
  LoggedGenerationObject,
} from '../../../src/contract/generations/generation-log.ts';
export type { GenerationRecord } from '../../../src/contract/generations/generation-record.ts';
export type {
  RunningGenerationObject,
  RunningGenerationsReply,
} from '../../../src/contract/generations/running-generation.ts';
export type {
  KeyAssignmentObject,
  MemberAssignmentObject,
} from '../../../src/contract/guardrails/assignment.ts';
export type { GuardrailObject } from '../../../src/contract/guardrails/guardrail.ts';
export type { GuardrailVerdict } from '../../../src/contract/guardrails/trial.ts';
export type { CurrentKey } from '../../../src/contract/keys/current-key.ts';
export type { CreateKey, KeyObject, UpdateKey } from '../../../src/contract/keys/key.ts';
export type { CreateMember, MemberObject, UpdateMember } from '../../../src/contract/members/member.ts';
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
export type { Granularity } from '../../../src/ports/events/event-names.ts';
