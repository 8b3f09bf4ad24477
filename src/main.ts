import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { partsOfSite } from './catalog/build-model.ts';
import type { Catalog } from './catalog/catalog.ts';
import { Closers } from './closers.ts';
import {
  type Certificate,
  readCertificate,
  type TlsFiles,
  tlsFilesIn,
  watchCertificate,
} from './config/certificate.ts';
import {
  configurationErrorOf,
  type LoadedConfiguration,
  type LoadOptions,
  loadConfigurationInThread,
} from './config/load.ts';
import { watchConfiguration } from './config/watch.ts';
import type { CoolingEndpoint } from './control/doctor-view.ts';
import { listenForCommands } from './control/listen.ts';
import { DeclaredFile } from './declared-file.ts';
import { createEgress } from './egress/egress.ts';
import { createGateway } from './gateway/generate.ts';
import { serviceLog } from './gateway/leg/service-log.ts';
import { keepContent } from './gateway/observers/generation-content.ts';
import { generationLog } from './gateway/observers/generation-log.ts';
import { GenerationMetrics } from './gateway/observers/generation-metrics.ts';
import { GenerationTail } from './gateway/observers/generation-tail.ts';
import { LastFailures } from './gateway/observers/last-failures.ts';
import { keepItemsSwept, MemoryOutputItems } from './gateway/request/memory-output-items.ts';
import { earlyMetrics, gatewayMetrics } from './gateway-metrics.ts';
import type { HttpTimes } from './http/dependencies.ts';
import { createHttpServer } from './http/http-server.ts';
import { type Installation, openInstallation } from './installation.ts';
import { randomIds } from './kit/ids.ts';
import type { Log } from './kit/log/log.ts';
import { expositionOf } from './kit/metrics/exposition.ts';
import { LoopDelay } from './kit/metrics/loop-delay.ts';
import type { MetricFamily } from './kit/metrics/metric-family.ts';
import { programVersion } from './kit/program-version.ts';
import { type Clock, systemClock } from './kit/time/clock.ts';
import { Activity } from './manage/analytics/activity.ts';
import { Analytics } from './manage/analytics/analytics.ts';
import { REFILL_WARNING } from './manage/analytics/refill-warning.ts';
import { keepSwept } from './manage/files/files.ts';
import { Generations } from './manage/generations/generations.ts';
import { keptMs, Retention } from './manage/generations/retention.ts';
import { bootstrap, type FirstKeys } from './manage/keys/bootstrap.ts';
import { MoneyLeft } from './manage/keys/money-left.ts';
import { Rankings } from './manage/rankings/rankings.ts';
import { providerStates } from './provider-states.ts';
import { readinessParts } from './readiness.ts';
import { Pins } from './routing/conversation/pins.ts';
import { type CoolingSite, Health } from './routing/health/health.ts';
import { Traffic } from './routing/traffic.ts';
import { RunningSettings } from './running-settings.ts';
import { prepareBody } from './settings.ts';
import { GuardrailMetrics } from './stages/guardrails/guardrail-metrics.ts';
import { guardrailJudges } from './stages/guardrails/judges/guardrail-judges.ts';
import type { Stage } from './stages/stage.ts';
import { stageTable } from './stages/table.ts';
import { DiskResponseCache } from './store/cache/disk-response-cache.ts';
import { DiskContentStore } from './store/content/disk-content-store.ts';
import { MemoryLimiter } from './store/rate-limits/memory-limiter.ts';
import { keepCounts, RequestCountsFile } from './store/rate-limits/request-counts-file.ts';
import { createTokenizer } from './tokens/tokenizer.ts';
import { openUpstreams } from './upstream/open-upstreams.ts';

/** A model that needs no provider. */
const FIRST_MODEL = 'simulator/standard';

/** How long closing waits for abandoned generations to be settled, milliseconds. */
const SETTLING_MS = 2_000;

/** Options of a gateway. */
export interface OpenOptions {
  readonly loaded: LoadedConfiguration;
  /** How the configuration is reloaded. */
  readonly load: LoadOptions;
  readonly log: Log;
  /** Changes to the time limits of the HTTP layer. */
  readonly times?: Partial<HttpTimes>;
  /** Sockets that listen on the port, where Node can share one; 1 by default. */
  readonly listeningSockets?: number;
  /** Clock of stored output items; the system's by default. */
  readonly itemClock?: Pick<Clock, 'monotonic'>;
  /** Additional stages, inside those of the table. */
  readonly stages?: readonly Stage[];
}

export interface RunningGateway {
  readonly host: string;
  readonly port: number;
  /** The first keys, shown once; undefined after the first start. */
  readonly firstKeys: FirstKeys | undefined;
  /** A model to try: the simulated one if available. */
  readonly exampleModel: string | undefined;
  /** How long `close` waits for open requests, milliseconds. */
  drainMs(): number;
  /**
   * Stops accepting, drains for `limitMs` (by default as configured), and closes everything. `closing` gets the name
   * of each thing before it is closed.
   */
  close(limitMs?: number, closing?: (what: string) => void): Promise<void>;
}

/** The certificate of `server.tls`; undefined = plain HTTP. Throws a ConfigurationError if it cannot be used. */
function openCertificate({
  config,
  watchedFile,
}: LoadedConfiguration): { readonly files: TlsFiles; readonly certificate: Certificate } | undefined {
  const { tls } = config.server;
  if (tls === null) return undefined;
  const files = tlsFilesIn(dirname(watchedFile), tls);
  const reading = readCertificate(files);
  if (!reading.ok) throw configurationErrorOf(reading.problems, watchedFile);
  return { files, certificate: reading.certificate };
}

/** Composes a gateway from its parts and serves. */
export async function openGateway(options: OpenOptions): Promise<RunningGateway> {
  const { loaded, load, log, times, listeningSockets, itemClock = systemClock, stages = [] } = options;
  const { config, runtime } = loaded;
  const settings = new RunningSettings(loaded);
  const closers = new Closers();
  try {
    const loopDelay = new LoopDelay();
    closers.push('the measurement of the event loop', () => loopDelay.close());
    const metrics = { families: [] as readonly MetricFamily[], refresh: async () => {} };
    const tls = openCertificate(loaded);
    // First, so that probes of a gateway that takes long to open see that it is alive and not ready.
    const server = createHttpServer({
      settings: () => settings.latest.http,
      ids: randomIds,
      clock: systemClock,
      log,
      metrics: async () => {
        await metrics.refresh();
        return expositionOf(metrics.families);
      },
      ...(times !== undefined && { times }),
      ...(listeningSockets !== undefined && { listeningSockets }),
      certificate: tls?.certificate,
    });
    if (tls !== undefined) {
      const renewal = watchCertificate(tls.files, (renewed) => server.renewCertificate(renewed), log);
      closers.push('the watch of the certificate', () => renewal.close());
    }
    // Set once the database is open; a configuration that comes before is applied then.
    let declared: DeclaredFile | undefined;
    const watch = watchConfiguration({
      initial: loaded,
      load: () => loadConfigurationInThread(load),
      apply: async (next) => {
        await declared?.apply(next);
        await settings.reload(next);
      },
      log,
    });
    closers.push('the watch of the configuration file', () => watch.close());
    const earlySources = {
      http: server.metrics,
      loopDelay,
      version: programVersion(),
      configuration: () => watch.state,
      clock: systemClock,
    };
    metrics.families = earlyMetrics(earlySources);
    const { host, port } = await server.listen(runtime.host, runtime.port);
    closers.push('open connections', () => server.drain(0));
    const egress = createEgress({ rules: () => settings.latest.egress });
    const presidioUrl = () => settings.latest.config.guardrails.presidio_url ?? null;
    const judgesFor = guardrailJudges({ egress, presidioUrl });
    const installation = await openInstallation({
      dataDir: runtime.dataDir,
      keyPrefix: config.keys.prefix,
      initialUsd: () => settings.latest.config.credits.initial_usd,
      providers: () => settings.current.gateway.catalog.providers,
      models: () => settings.current.gateway.catalog.withEveryProvider(),
      presidioUrl,
      judgesFor,
      egress: () => settings.latest.egress,
      encryptionKey: runtime.encryptionKey,
      ...(runtime.database !== undefined && {
        database: {
          address: runtime.database,
          waitsForDatabase: true,
          isGateway: true,
          retentionMs: () => keptMs(settings.latest.config.retention.events_days),
        },
      }),
      generationMs: () => settings.latest.http.requestDeadlineMs,
      durability: () => settings.latest.config.durability.ledger,
      warn: (message, fields) => log.warn(message, fields),
    });
    closers.push('the ledger and the database', () => installation.close());
    logRecovery(installation.recovery, log);
    for (const warning of installation.directory.warnings) log.warn(warning);
    for (const warning of installation.vault.warnings) log.warn(warning);
    settings.setKnowledge((providers) => installation.modelKnowledge.entriesOf(providers));
    installation.modelKnowledge.onChange(() => settings.rebuildCatalog());
    const cache = new DiskResponseCache(join(installation.directory.path, 'cache'), log);
    closers.push('the response cache', () => cache.close());
    const contents = new DiskContentStore({
      directory: join(installation.directory.path, 'content'),
      log,
      clock: systemClock,
    });
    closers.push('stored prompts and answers', () => contents.close());
    const retention = new Retention({
      settings: () => {
        const { events_days, content_days, content_bytes } = settings.latest.config.retention;
        return { eventsDays: events_days, contentDays: content_days, contentBytes: content_bytes };
      },
      generations: installation.generationStore,
      events: installation.eventStore,
      contents,
      clock: systemClock,
      log,
    });
    closers.push('the removal of old data', () => retention.close());
    const swept = keepSwept(installation.files, log);
    closers.push('the removal of deleted files', () => swept.close());
    const upstreams = openUpstreams({
      vendor: config.vendor,
      clock: systemClock,
      ids: randomIds,
      egress: () => settings.latest.egress,
      largeAnswersBytes: () => settings.latest.largeAnswersBytes,
    });
    closers.push('connections to providers', () => upstreams.close());
    const tokenizer = createTokenizer();
    closers.push('the tokenizer', () => tokenizer.close());

    const health = new Health({
      clock: systemClock,
      random: Math.random,
      settings: () => settings.latest.cooldown,
      report: serviceLog(log),
    });
    const items = new MemoryOutputItems({
      clock: itemClock,
      maxBytes: () => settings.latest.config.retention.output_items_bytes,
    });
    const itemsSwept = keepItemsSwept(items);
    closers.push('the removal of old output items', () => itemsSwept.close());
    const logGeneration = generationLog(log, systemClock);
    const generationMetrics = new GenerationMetrics();
    const guardrailMetrics = new GuardrailMetrics();
    const tail = new GenerationTail(systemClock);
    const failures = new LastFailures(systemClock);
    const gateway = createGateway({
      settings: () => settings.current.gateway,
      stages: stageTable({ cache, egress, judgesFor, guardrailMetrics }, stages),
      callUpstream: upstreams.call,
      countUpstream: upstreams.countTokens,
      tokenizer,
      previewUpstream: upstreams.preview,
      prepareBody: (format, body) => prepareBody(format, body, settings.latest),
      files: installation.storedFiles,
      items,
      byokCredentials: installation.byokCredentials,
      health,
      memory: {
        pins: new Pins({ clock: systemClock, idleMs: () => settings.latest.config.routing.sticky_idle_ms }),
        traffic: new Traffic({ clock: systemClock }),
      },
      random: Math.random,
      userHashKey: installation.directory.hashKey,
      warn: (message, fields) => log.warn(message, fields),
      ledger: installation.ledger,
      onSettled: (generation, settlement, times) => {
        generationMetrics.note(generation, settlement, times);
        failures.note(generation);
        logGeneration(generation, settlement);
        tail.note(generation, settlement);
        keepContent({ store: contents, random: Math.random }, generation, settlement);
      },
      onUnrecorded: (generation, settlement) => {
        failures.note(generation);
        logGeneration(generation, settlement);
        tail.note(generation, settlement);
      },
      clock: systemClock,
    });
    const counts = new RequestCountsFile(installation.directory.path);
    const limiter = new MemoryLimiter(systemClock, counts.read());
    const countsKeeper = keepCounts(limiter, counts, log);
    closers.push('the counts of requests', () => countsKeeper.close());
    const money = new MoneyLeft({
      ledger: installation.ledger,
      tenancy: installation.tenancy,
      clock: systemClock,
    });
    metrics.families = gatewayMetrics({
      ...earlySources,
      generations: generationMetrics,
      guardrails: guardrailMetrics,
      ledger: installation.ledger,
      health,
      money,
    });
    metrics.refresh = () => money.refresh();
    const control = await listenForCommands(
      installation.directory.path,
      {
        ...installation,
        configured: () => settings.current.config,
        tail: (reader) => tail.read(reader),
        running: () => ({
          version: programVersion(),
          state: server.state,
          requestsInFlight: server.inFlight.requests(),
          generationsInFlight: server.inFlight.generations(),
          loopDelaySeconds: loopDelay.longest,
          cooling: health.coolingSites().map(coolingEndpointOf),
        }),
        serving: {
          providers: () => providerStates(settings.current.gateway.catalog, failures),
          readConfiguration: () => loadConfigurationInThread(load),
        },
      },
      log,
    );
    closers.push('the control socket', () => control.close());
    declared = new DeclaredFile(installation, () => watch.running, log);
    await declared.applyFirst();
    // Last: keys that are shown once must not be created by a start that fails.
    const firstKeys = await installation.whenDatabaseUp(() => bootstrap(installation, runtime));
    const firstAccount = await installation.whenDatabaseUp(() => installation.accounts.ensureFirst());
    await preloadManagementKeys(installation, firstAccount.id);
    const analyticsParts = {
      events: installation.eventStore,
      tenancy: installation.tenancy,
      clock: systemClock,
    };
    await server.serve({
      catalog: () => settings.current.gateway.catalog,
      callers: installation.callers,
      gateway,
      limiter,
      byok: installation.byok,
      guardrails: installation.guardrails,
      guardrailAssignments: installation.guardrailAssignments,
      accountKeys: installation.accountKeys,
      workspaces: installation.workspaces,
      budgets: installation.budgets,
      credits: installation.credits,
      files: installation.files,
      analyticsWarning: () => (installation.eventStore.isRefilling ? REFILL_WARNING : null),
      analytics: new Analytics({ ...analyticsParts, apps: installation.appRegistry }),
      activity: new Activity(analyticsParts),
      readiness: () =>
        readinessParts({
          ledger: installation.ledger,
          isDatabaseUp: installation.isDatabaseUp,
          events: installation.eventStore,
          health,
          catalog: () => settings.latest.gateway.catalog,
        }),
      firstAccountId: firstAccount.id,
      restartReason: installation.restartReason,
      generations: new Generations({
        recent: installation.recentGenerations,
        rows: installation.generationStore,
        contents,
        apps: installation.appRegistry,
      }),
      rankings: new Rankings({
        events: installation.eventStore,
        apps: installation.appRegistry,
        hidden: () => settings.latest.config.apps.hidden,
        clock: systemClock,
      }),
    });
    return {
      host,
      port,
      firstKeys,
      exampleModel: exampleOf(settings.latest.gateway.catalog),
      drainMs: () => settings.latest.config.drain_ms,
      async close(limitMs = settings.latest.config.drain_ms, closing) {
        await server.drain(limitMs);
        await Promise.race([gateway.settled(), delay(SETTLING_MS, undefined, { ref: false })]);
        await closers.closeAll(closing);
      },
    };
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

function coolingEndpointOf({ site, accounts, leftMs }: CoolingSite): CoolingEndpoint {
  return { ...partsOfSite(site), accounts, seconds_left: Math.ceil(leftMs / 1000) };
}

/** Keys that are read before they are used. */
const PRELOADED_KEYS = 100;

/** Makes the keys that may read `/metrics` known, so that it answers although the disk does not. */
async function preloadManagementKeys(
  { tenancy, callers, hasSharedDatabase }: Installation,
  accountId: string,
): Promise<void> {
  if (hasSharedDatabase) return;
  const keys = (await tenancy.listKeys(accountId)).filter(({ isManagement }) => isManagement);
  await callers.preload(keys.slice(0, PRELOADED_KEYS).map(({ hash }) => hash));
}

/** One line for each restart: what the journal of the earlier run had left to do. */
function logRecovery(recovery: Installation['recovery'], log: Log): void {
  if (recovery?.isRestart !== true) return;
  const { settledAfterCrash, releasedAfterCrash, rebooked, tornTailBytes } = recovery;
  log.info('recovery', {
    settled: settledAfterCrash - releasedAfterCrash,
    released: releasedAfterCrash,
    rebooked,
    torn_tail_bytes: tornTailBytes,
  });
}

function exampleOf({ models, resolve }: Catalog): string | undefined {
  return (resolve(FIRST_MODEL) ?? models.find(({ endpoints }) => endpoints.length > 0))?.id;
}
