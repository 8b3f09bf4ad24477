import { setTimeout as delay } from 'node:timers/promises';
import { connectionTest } from '../broadcast/connection-test.ts';
import type { Telemetry } from '../broadcast/telemetry/telemetry.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { AddedProvider } from '../catalog/model-entries.ts';
import { type LoadedConfiguration, type LoadOptions, loadConfigurationInThread } from '../config/load.ts';
import { type ConfigurationWatch, watchConfiguration } from '../config/watch.ts';
import { workerCountOf } from '../config/worker-count.ts';
import type { ReadinessParts } from '../contract/envelopes/health.ts';
import type { RunningState } from '../control/doctor-view.ts';
import { listenForCommands } from '../control/listen.ts';
import { examineBucket, storeServers } from '../doctor/examination.ts';
import { type ExaminedProcess, examineSelf } from '../doctor/self-examination.ts';
import { followerMetrics } from '../following/follower-metrics.ts';
import type { Log } from '../kit/log/log.ts';
import { watchedLog } from '../kit/log/watched-log.ts';
import { LoopDelay } from '../kit/metrics/loop-delay.ts';
import { nanosOf } from '../kit/money.ts';
import { programVersion } from '../kit/program-version.ts';
import { type Clock, systemClock } from '../kit/time/clock.ts';
import { mcpProviders } from '../manage/byok/byok-secret.ts';
import { keepSwept } from '../manage/files/files.ts';
import { providerSetters } from '../manage/gateway-providers/provider-setters.ts';
import { keptMs } from '../manage/generations/retention.ts';
import { bootstrap, type FirstKeys } from '../manage/keys/bootstrap.ts';
import { MoneyLeft } from '../manage/keys/money-left.ts';
import { systemSources } from '../manage/sources.ts';
import { unassignedServers } from '../mcp/configured-servers.ts';
import { createEgress } from '../net/egress/egress.ts';
import { earlyMetrics, gatewayMetrics } from '../operator/gateway-metrics.ts';
import { operatorViews } from '../operator/operator-views.ts';
import { providerStates } from '../operator/provider-states.ts';
import { readinessParts } from '../operator/readiness.ts';
import { sharedMemoryMetrics } from '../operator/shared-memory-metrics.ts';
import { RunningSettings } from '../settings/running-settings.ts';
import { guardrailJudges } from '../stages/guardrails/judges/guardrail-judges.ts';
import type { Stage } from '../stages/stage.ts';
import { MemoryLimiter } from '../store/rate-limits/memory-limiter.ts';
import { keepCounts, RequestCountsFile } from '../store/rate-limits/request-counts-file.ts';
import { SharedLimiter } from '../store/shared-memory/shared-limiter.ts';
import { Closers } from './closers.ts';
import { DeclaredFile } from './declared-file.ts';
import { openCallTallies, openUptimeHistory } from './endpoint-uptime.ts';
import { type Engine, type EngineMemory, openEngine } from './engine.ts';
import { openEngineStores } from './engine-stores.ts';
import { httpServices } from './http-services.ts';
import { type Installation, openInstallation } from './installation.ts';
import type { InstallationOptions } from './installation-options.ts';
import {
  type ListeningServer,
  openServer,
  type ServerOptions,
  type ShownMetrics,
} from './listening-server.ts';
import { openClassification } from './open-classification.ts';
import { type FollowersPace, openFollowing } from './open-following.ts';
import { openTelemetry } from './open-telemetry.ts';
import { runningState } from './running-state.ts';
import { memoryOfProcesses, openSharedMemory, type SharedMemory } from './shared-memory.ts';
import { WorkerOwner } from './worker-owner.ts';

/** A model that needs no provider. */
const FIRST_MODEL = 'simulator/standard';

/** How long closing waits for abandoned generations to be settled, milliseconds. */
const SETTLING_MS = 2_000;

/** How long closing waits until the last metrics and log lines are taken, milliseconds. */
const FLUSH_MS = 2_000;

/** Default of `drain_grace_ms` with a shared database, where other gateways can take over, milliseconds. */
const SHARED_GRACE_MS = 2_000;

/** Options of a gateway. */
export interface OpenOptions extends ServerOptions {
  readonly loaded: LoadedConfiguration;
  /** How the configuration is reloaded. */
  readonly load: LoadOptions;
  readonly log: Log;
  /** Clock of stored output items; the system's by default. */
  readonly itemClock?: Pick<Clock, 'monotonic'>;
  /** Clock of the health of endpoints; the system's by default. */
  readonly healthClock?: Clock;
  /** Longest wait for limits and routing memory that gateways share, milliseconds; 100 by default. */
  readonly sharedMemoryLimitMs?: number;
  /** How long the model of a classifier may take, milliseconds; a minute by default. */
  readonly classifierMs?: number;
  /** How soon destinations and classifiers are told of a generation; within three seconds by default. */
  readonly followersPace?: FollowersPace;
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
  /** How long it serves after `leave`, milliseconds. */
  graceMs(): number;
  /** Reports by `/readyz` that it is draining, and goes on serving for `graceMs`. */
  leave(): Promise<void>;
  /** How long `close` waits for open requests, milliseconds. */
  drainMs(): number;
  /**
   * Stops accepting, drains for `limitMs` (by default as configured), and closes everything. `closing` gets the name
   * of each thing before it is closed.
   */
  close(limitMs?: number, closing?: (what: string) => void): Promise<void>;
}

/** Composes a gateway from its parts and serves. */
export async function openGateway(options: OpenOptions): Promise<RunningGateway> {
  const closers = new Closers();
  try {
    return await openParts(options, closers);
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

/** The parts in the order in which they are opened; all are closed if a later one fails. */
async function openParts(given: OpenOptions, closers: Closers): Promise<RunningGateway> {
  const { loaded, itemClock, healthClock, stages } = given;
  const { config, runtime } = loaded;
  const settings = new RunningSettings(loaded);
  const loopDelay = closers.add('the measurement of the event loop', new LoopDelay());
  const metrics: ShownMetrics = { families: [], refresh: async () => {} };
  const egress = createEgress({ rules: () => settings.latest.egress });
  const telemetry = closers.add('telemetry', openTelemetry({ settings, metrics, egress, log: given.log }));
  const log = watchedLog(given.log, runtime.logLevel, telemetry);
  const options = { ...given, log };
  // First, so that probes of a gateway that takes long to open see that it is alive and not ready.
  const server = openServer(loaded, settings, metrics, options, log, closers);
  const workers = openWorkers(options, server, telemetry, closers);
  const reloads = watchFile(options, settings, workers, telemetry, closers);
  const earlySources = {
    http: server.metrics,
    loopDelay,
    version: programVersion(),
    configuration: () => reloads.watch.state,
    clock: systemClock,
  };
  metrics.families = [...earlyMetrics(earlySources), ...telemetry.families];
  const { host, port } = await (workers ?? server).listen(runtime.host, runtime.port);
  closers.add('open connections', { close: () => server.drain(0) });

  const presidioUrl = () => settings.latest.config.guardrails.presidio_url ?? null;
  const judgesFor = guardrailJudges({ egress, presidioUrl });
  const testConnection = connectionTest(egress, systemSources.uuid, systemClock.now);
  const installation = await openStores(
    {
      presidioUrl,
      judgesFor,
      testConnection,
      providerSetters: () => providerSetters(reloads.watch.running),
    },
    options,
    settings,
    closers,
  );
  const useProviders = async (entries: readonly AddedProvider[]) => {
    await settings.useProviders(entries);
    await workers?.useProviders(entries);
  };
  installation.gatewayProviders.watch(useProviders);
  await installation.whenDatabaseUp(() => installation.gatewayProviders.refresh());
  installation.changes.subscribe((change) => installation.gatewayProviders.note(change));
  closers.add('the removal of deleted files', keepSwept(installation.files, log));
  const { vendor } = config;
  let firstAccountId: string | undefined;
  const shared = await openSharedMemory(
    { installation, runtime, vendor, limitMs: options.sharedMemoryLimitMs, log },
    closers,
  );
  const memory: EngineMemory | undefined =
    shared ?? (workers === undefined ? undefined : memoryOfProcesses());
  const limiter = openLimiter(installation, shared, () => engine.news?.gateways ?? 1, log, closers);
  const stores = openEngineStores({ settings, installation, log }, closers);
  const callTallies = openCallTallies();
  const uptime = openUptimeHistory(callTallies, { installation, log }, closers);
  const engine = openEngine(
    {
      ...stores,
      spooledContents: installation.spooledContents,
      vendor,
      settings,
      installation: { ...installation, hashKey: installation.directory.hashKey },
      egress,
      judgesFor,
      limiter,
      callTallies,
      shared: memory,
      log,
      itemClock,
      healthClock,
      stages,
      firstAccountId: () => firstAccountId,
    },
    closers,
  );

  const classification = openClassification(
    {
      installation,
      engine,
      settings,
      contents: stores.contents,
      classifierMs: options.classifierMs,
      log,
    },
    closers,
  );

  await engine.news?.open();
  const others = [classification.followers];
  const following = openFollowing(
    { installation, settings, egress, others, pace: options.followersPace, log },
    closers,
  );
  const { ledger, tenancy, eventStore: events } = installation;
  const money = new MoneyLeft({
    ledger,
    tenancy,
    clock: systemClock,
    shownKeys: () => settings.latest.http.shownKeyLimits,
  });
  const { generationMetrics: generations, guardrailMetrics: guardrails, health } = engine;
  const families = [
    ...gatewayMetrics({ ...earlySources, generations, guardrails, ledger, events, health, money }),
    ...classification.counts.families,
    ...followerMetrics(following, systemClock),
    ...(shared !== undefined && engine.news !== undefined && limiter instanceof SharedLimiter
      ? sharedMemoryMetrics({
          shared: { kind: shared.stores.kind, isUp: () => shared.gate.isOpen },
          limiter,
          news: engine.news,
        })
      : []),
    ...telemetry.families,
  ];
  metrics.families = families;
  metrics.refresh = async () => {
    await money.refresh();
    if (workers !== undefined) metrics.families = await workers.metricsWith(families);
  };
  const readiness = () =>
    readinessParts({
      ledger,
      isDatabaseUp: installation.isDatabaseUp,
      events,
      health,
      catalog: () => settings.latest.gateway.catalog,
      isRedisUp: shared?.stores.kind === 'redis' ? () => shared.gate.isOpen : undefined,
    });
  const examined = examinedProcess(
    { server, workers, loopDelay, installation, engine, settings, readiness },
    options,
  );
  await openControl(examined, { installation, engine, settings }, log, closers);
  await reloads.declare(new DeclaredFile(installation, () => reloads.watch.running, log));
  // Last: keys that are shown once must not be created by a start that fails.
  const firstKeys = await installation.whenDatabaseUp(() => bootstrap(installation, runtime));
  const firstAccount = await installation.whenDatabaseUp(() => installation.accounts.ensureFirst());
  firstAccountId = firstAccount.id;
  const unassigned = unassignedServers(settings.latest.mcpServers);
  if (unassigned.length > 0 && (await installation.accounts.list()).length > 1) {
    const message =
      'MCP servers without workspaces, keys and all_accounts are open to the first account only; ' +
      'say in tools.mcp_servers who else may use them';
    log.warn(message, { servers: unassigned });
  }
  await preloadManagementKeys(installation, firstAccount.id);
  const views = operatorViews({
    settings,
    engine,
    configuration: () => reloads.watch,
    flags: options.load.flags ?? {},
    prices: installation.priceHistory,
    storedProviders: installation.gatewayProviders,
    uptime,
    examine: () => examineSelf(examined),
  });
  following.start();
  await server.serve(
    httpServices({
      installation,
      engine,
      settings,
      limiter,
      readiness,
      contents: stores.contents,
      classification,
      firstAccountId: firstAccount.id,
      operatorViews: views,
    }),
  );
  if (memory !== undefined) {
    const parts = {
      ...stores,
      installation,
      engine,
      limiter,
      callTallies,
      memory,
      firstAccountId: firstAccount.id,
    };
    await workers?.serve(parts);
  }
  const graceMs = () =>
    settings.latest.config.drain_grace_ms ?? (installation.hasSharedDatabase ? SHARED_GRACE_MS : 0);
  return {
    host,
    port,
    firstKeys,
    exampleModel: exampleOf(settings.latest.gateway.catalog),
    graceMs,
    async leave() {
      await Promise.all([server.leave(graceMs()), workers?.leave(graceMs())]);
    },
    drainMs: () => settings.latest.config.drain_ms,
    async close(limitMs = settings.latest.config.drain_ms, closing) {
      await Promise.all([server.drain(limitMs), workers?.drain(limitMs)]);
      await Promise.race([engine.gateway.settled(), delay(SETTLING_MS, undefined, { ref: false })]);
      await telemetry.flush(FLUSH_MS);
      await closers.closeAll(closing);
    },
  };
}

/** Serving processes beside this one; undefined if this one serves itself. */
function openWorkers(
  { loaded, log }: OpenOptions,
  server: ListeningServer,
  telemetry: Telemetry,
  closers: Closers,
): WorkerOwner | undefined {
  if (workerCountOf(loaded) === 1) return undefined;
  const { logLevel: level, colours = false } = loaded.runtime;
  const workers = new WorkerOwner({
    loaded,
    server,
    log,
    logSettings: { level, colours, readable: process.stderr.isTTY === true },
    writeLog: (lines) => {
      process.stderr.write(lines);
      telemetry.addLines(lines);
    },
  });
  return closers.add('serving processes', workers);
}

/** Applies changes of the configuration file. */
interface Reloads {
  readonly watch: ConfigurationWatch;
  /** Stores what the file declares, now and after each reload: once the database is open. */
  declare(declared: DeclaredFile): Promise<void>;
}

function watchFile(
  { loaded, load, log }: OpenOptions,
  settings: RunningSettings,
  workers: WorkerOwner | undefined,
  telemetry: Telemetry,
  closers: Closers,
): Reloads {
  // A configuration that comes before the database is open is applied by `declare`.
  let stored: DeclaredFile | undefined;
  const watch = watchConfiguration({
    initial: loaded,
    load: () => loadConfigurationInThread(load),
    apply: async (next) => {
      await stored?.apply(next);
      await settings.reload(next);
      telemetry.configure();
      await workers?.reload(next);
    },
    log,
  });
  closers.add('the watch of the configuration file', watch);
  return {
    watch,
    async declare(declared) {
      stored = declared;
      await declared.applyFirst();
    },
  };
}

/** The data directory, or the database, and the services on it. Logs what opening it has found. */
async function openStores(
  waysOut: Pick<InstallationOptions, 'presidioUrl' | 'judgesFor' | 'testConnection' | 'providerSetters'>,
  { loaded: { config, runtime }, log }: OpenOptions,
  settings: RunningSettings,
  closers: Closers,
): Promise<Installation> {
  const installation = await openInstallation({
    dataDir: runtime.dataDir,
    keyPrefix: config.keys.prefix,
    vendor: config.vendor,
    initialUsd: () => settings.latest.config.credits.initial_usd,
    providers: () => [
      ...settings.current.gateway.catalog.providers,
      ...mcpProviders(settings.current.config.tools.mcp_servers),
    ],
    runningProvider: (slug) =>
      settings.current.gateway.catalog.providers.find((provider) => provider.slug === slug),
    models: () => settings.current.gateway.catalog.withEveryProvider(),
    ...waysOut,
    egress: () => settings.latest.egress,
    encryptionKey: runtime.encryptionKey,
    clickhouse: runtime.clickhouse,
    bucket: config.storage.s3,
    mayMigrate: runtime.mayMigrate,
    readsApart: true,
    ...(runtime.database !== undefined && {
      database: {
        address: runtime.database,
        waitsForDatabase: true,
        isGateway: true,
        retentionMs: () => keptMs(settings.latest.config.retention.events_days),
        slices: () => {
          const { max_usd, max_share } = settings.latest.config.ledger.slices;
          return { maxNanos: nanosOf(max_usd), maxShare: max_share };
        },
      },
    }),
    fileQuotas: () => settings.latest.fileQuotas,
    fileFloorBytes: () => settings.latest.config.limits.files.min_free_disk_bytes,
    generationMs: () => settings.latest.http.requestDeadlineMs,
    durability: () => settings.latest.config.durability.ledger,
    warn: (message, fields) => log.warn(message, fields),
  });
  closers.add('the ledger and the database', installation);
  logRecovery(installation.recovery, log);
  for (const warning of installation.directory.warnings) log.warn(warning);
  for (const warning of installation.vault.warnings) log.warn(warning);
  settings.setKnowledge((providers) => installation.modelKnowledge.entriesOf(providers));
  installation.modelKnowledge.onChange(() => settings.rebuildCatalog());
  settings.watchCatalog((catalog) => void installation.priceHistory.note(catalog));
  return installation;
}

/** Limits of requests and tokens that gateways share, or those of this one, whose daily counts survive a restart. */
function openLimiter(
  { directory }: Installation,
  shared: SharedMemory | undefined,
  gateways: () => number,
  log: Log,
  closers: Closers,
): SharedLimiter | MemoryLimiter {
  if (shared !== undefined) {
    const { stores, gate } = shared;
    return new SharedLimiter({ store: stores.limiter, gate, gateways, clock: systemClock });
  }
  const counts = new RequestCountsFile(directory.path);
  const limiter = new MemoryLimiter(systemClock, counts.read());
  closers.add('the counts of requests and tokens', keepCounts(limiter, counts, log));
  return limiter;
}

/** The running parts that commands may ask for. */
interface ControlledDependencies {
  readonly server: ListeningServer;
  readonly workers: WorkerOwner | undefined;
  readonly loopDelay: LoopDelay;
  readonly installation: Installation;
  readonly engine: Engine;
  readonly settings: RunningSettings;
  readonly readiness: () => ReadinessParts;
}

/** What commands and the operator's views see of the running process. */
function examinedProcess(
  { server, workers, loopDelay, installation, engine, settings, readiness }: ControlledDependencies,
  { load, loaded }: OpenOptions,
): ExaminedProcess & { readonly running: () => Promise<RunningState> } {
  const { followerNotes } = installation;
  const running = () => runningState({ server, workers, loopDelay, engine, followerNotes, readiness });
  return {
    running,
    inspected: { ...installation, running },
    providers: () => providerStates(settings.current.gateway.catalog, engine.failures),
    readConfiguration: () => loadConfigurationInThread(load),
    // A changed `storage` waits for a restart.
    bucket: () => examineBucket(loaded.config.storage.s3),
    stores: storeServers(loaded.runtime),
  };
}

/** Lets commands reach the running gateway. */
async function openControl(
  { running, providers, readConfiguration, bucket, stores }: ReturnType<typeof examinedProcess>,
  { installation, engine, settings }: Pick<ControlledDependencies, 'installation' | 'engine' | 'settings'>,
  log: Log,
  closers: Closers,
): Promise<void> {
  const control = await listenForCommands(
    installation.directory.path,
    {
      ...installation,
      configured: () => settings.current.config,
      tail: (reader) => engine.tail.read(reader),
      running,
      serving: { providers, readConfiguration, bucket, stores },
    },
    log,
  );
  closers.add('the control socket', control);
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
