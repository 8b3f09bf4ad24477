import { ClassifierTrials } from '../classify/classifier-trials.ts';
import type { HttpServices } from '../http/dependencies.ts';
import { systemClock } from '../kit/time/clock.ts';
import { Activity } from '../manage/analytics/activity.ts';
import { Analytics } from '../manage/analytics/analytics.ts';
import { AccountOverview } from '../manage/analytics/overview.ts';
import { REFILL_WARNING } from '../manage/analytics/refill-warning.ts';
import { ConversationList } from '../manage/generations/conversations.ts';
import { GenerationLog } from '../manage/generations/generation-log.ts';
import { Generations } from '../manage/generations/generations.ts';
import { RunningGenerations } from '../manage/generations/running-generations.ts';
import { Rankings } from '../manage/rankings/rankings.ts';
import type { ContentStore } from '../ports/content/content.ts';
import type { Limiter } from '../ports/shared/limiter.ts';
import type { RunningSettings } from '../settings/running-settings.ts';
import type { Engine } from './engine.ts';
import type { Installation } from './installation.ts';
import type { Classification } from './open-classification.ts';

/** Sources of the services of routes. */
interface ServiceSources {
  readonly installation: Installation;
  readonly engine: Engine;
  readonly settings: RunningSettings;
  readonly limiter: Limiter;
  readonly readiness: HttpServices['readiness'];
  readonly contents: ContentStore;
  readonly classification: Pick<Classification, 'model' | 'runs'>;
  readonly firstAccountId: string;
  readonly operatorViews: HttpServices['operatorViews'];
}

/** The services that routes use. */
export function httpServices({
  installation,
  engine,
  settings,
  limiter,
  readiness,
  contents,
  classification,
  firstAccountId,
  operatorViews,
}: ServiceSources): HttpServices {
  const { eventStore: events, appRegistry: apps, tenancy, classifierStore: classifiers } = installation;
  const analyticsParts = { events, tenancy, classifiers, clock: systemClock };
  const generations = new Generations({
    recent: installation.recentGenerations,
    rows: installation.generationStore,
    refused: installation.refusedRequests,
    contents,
    apps,
    prices: installation.priceHistory,
  });
  return {
    ...installation,
    catalog: () => settings.current.gateway.catalog,
    gateway: engine.gateway,
    refusals: engine.refusals,
    limiter,
    mcp: engine.mcpOffers,
    classifierRuns: classification.runs,
    classifierTrials: new ClassifierTrials({
      classifiers: installation.classifiers,
      generations,
      contents,
      model: classification.model,
    }),
    operatorViews,
    analyticsWarning: () => (events.isRefilling ? REFILL_WARNING : null),
    analytics: new Analytics({ ...analyticsParts, apps }),
    activity: new Activity(analyticsParts),
    overview: new AccountOverview({
      ...analyticsParts,
      apps,
      ledger: installation.ledger,
      generations: installation.generationStore,
    }),
    readiness,
    firstAccountId,
    conversations: new ConversationList(analyticsParts),
    generationLog: new GenerationLog(analyticsParts),
    runningGenerations: new RunningGenerations({ ledger: installation.ledger, tenancy, classifiers }),
    generations,
    rankings: new Rankings({
      events,
      apps,
      hidden: () => settings.latest.config.apps.hidden,
      clock: systemClock,
    }),
  };
}
