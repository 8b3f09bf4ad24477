import type { ClassifierRuns } from '../classify/classifier-runs.ts';
import type { ClassifierTrials } from '../classify/classifier-trials.ts';
import type { ConfigurationObject, FindingsObject, PresetObject } from '../contract/gateway/configuration.ts';
import type { PriceChangeObject } from '../contract/gateway/price-change.ts';
import type {
  EndpointStateObject,
  EndpointStatesQuery,
  ProviderStateObject,
} from '../contract/gateway/provider-state.ts';
import type { Clock } from '../kit/time/clock.ts';
import type { Credits } from '../manage/accounts/credits.ts';
import type { Activity } from '../manage/analytics/activity.ts';
import type { Analytics } from '../manage/analytics/analytics.ts';
import type { AccountOverview } from '../manage/analytics/overview.ts';
import type { Byok } from '../manage/byok/byok.ts';
import type { Classifiers } from '../manage/classifiers/classifiers.ts';
import type { Destinations } from '../manage/destinations/destinations.ts';
import type { Files } from '../manage/files/files.ts';
import type { GatewayProviders } from '../manage/gateway-providers/gateway-providers.ts';
import type { ConversationList } from '../manage/generations/conversations.ts';
import type { GenerationLog } from '../manage/generations/generation-log.ts';
import type { RunningGenerations } from '../manage/generations/running-generations.ts';
import type { GuardrailAssignments } from '../manage/guardrails/assignments.ts';
import type { Guardrails } from '../manage/guardrails/guardrails.ts';
import type { Keys } from '../manage/keys/keys.ts';
import type { Members } from '../manage/members/members.ts';
import type { Rankings } from '../manage/rankings/rankings.ts';
import type { Budgets } from '../manage/workspaces/budgets.ts';
import type { Workspaces } from '../manage/workspaces/workspaces.ts';

/** What the operator of the installation sees of it. */
export interface OperatorViews {
  /** Providers in use first, then those that are known. */
  providers(): Promise<ProviderStateObject[]>;
  endpoints(query: EndpointStatesQuery): Promise<EndpointStateObject[]>;
  /** `section`: values whose key begins with this word alone. */
  configuration(section?: string): Promise<ConfigurationObject>;
  findings(): Promise<FindingsObject>;
  presets(): PresetObject[];
  /** Changes of prices, newest first; of a model, the first prices too. */
  prices(model?: string): Promise<PriceChangeObject[]>;
}

/** The services that endpoints run on. */
export interface EndpointServices {
  readonly clock: Clock;
  readonly byok: Byok;
  readonly gatewayProviders: GatewayProviders;
  readonly guardrails: Guardrails;
  readonly guardrailAssignments: GuardrailAssignments;
  readonly destinations: Destinations;
  readonly classifiers: Classifiers;
  readonly classifierRuns: ClassifierRuns;
  readonly classifierTrials: ClassifierTrials;
  readonly conversations: ConversationList;
  readonly generationLog: GenerationLog;
  readonly runningGenerations: RunningGenerations;
  readonly keys: Keys;
  readonly workspaces: Workspaces;
  readonly budgets: Budgets;
  readonly members: Members;
  readonly credits: Credits;
  readonly files: Files;
  readonly rankings: Rankings;
  readonly analytics: Analytics;
  readonly activity: Activity;
  readonly overview: AccountOverview;
  /** The state of the installation, for its operator. */
  readonly operatorViews: OperatorViews;
}
