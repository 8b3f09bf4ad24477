import { keepItemsSwept } from './gateway/request/memory-output-items.ts';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { buildCatalogSliced, type CatalogSource } from './catalog/build-catalog.ts';
import type { Catalog } from './catalog/catalog.ts';
import { baseUrl, firstStartJson, firstStartText } from './cli/terminal/first-start.ts';
import {
  type LoadedConfiguration,
  type LoadOptions,
  loadConfigurationInThread,
  problemLine,
  requireConfiguration,
} from './config/load.ts';
import { watchConfiguration } from './config/watch.ts';
import { listenForCommands } from './control/listen.ts';
import { INBOUND_DIALECTS, untranslatableIssues } from './dialects/dialects.ts';
import { createGateway } from './gateway/generate.ts';
import { keepContent } from './gateway/generation/generation-content.ts';
import { generationLog } from './gateway/generation/generation-log.ts';
import { GenerationMetrics } from './gateway/generation/generation-metrics.ts';
import { MemoryOutputItems } from './gateway/request/memory-output-items.ts';
import { gatewayMetrics } from './gateway-metrics.ts';
import type { HttpTimes } from './http/dependencies.ts';
import { createHttpServer } from './http/server/server.ts';
import { loadOptions, openInstallation } from './installation.ts';
import { type Clock, randomIds, systemClock } from './kit/ids.ts';
import { type Log, openStderrLog } from './kit/log.ts';
import { runInTurns } from './kit/loop/turns.ts';
import { expositionOf } from './kit/metrics/exposition.ts';
import { LoopDelay } from './kit/metrics/loop-delay.ts';
import { programVersion } from './kit/program-version.ts';
import { Activity } from './manage/analytics/activity.ts';
import { Analytics } from './manage/analytics/analytics.ts';
import { Byok } from './manage/byok/byok.ts';
import { keepSwept } from './manage/files/files.ts';
import { Generations } from './manage/generations/generations.ts';
import { keptMs, Retention } from './manage/generations/retention.ts';
import { bootstrap, type FirstKeys } from './manage/keys/bootstrap.ts';
import { Rankings } from './manage/rankings/rankings.ts';
import { Pins } from './routing/conversation/pins.ts';
import { Health } from './routing/health/health.ts';
import { Traffic } from './routing/traffic.ts';
import { catalogSourceOf, prepareBody, snapshotOf } from './snapshot.ts';
import type { Stage } from './stages/stage.ts';
import { stageTable } from './stages/table.ts';
import { DiskResponseCache } from './store/cache/disk-response-cache.ts';
import { DiskContentStore } from './store/content/disk-content-store.ts';
import { MemoryLimiter } from './store/memory/memory-limiter.ts';
import { keepCounts, RequestCountsFile } from './store/memory/request-counts-file.ts';
import { createTokenizer } from './tokens/tokenizer.ts';
import { openUpstreams } from './upstream/open-upstreams.ts';

/** The model that answers without any provider. */
const FIRST_MODEL = 'simulator/standard';

/** How long answers that nobody waits for any more may take to close their accounts when the gateway ends, milliseconds. */
const SETTLING_MS = 2_000;

/** What a gateway is opened with. */
export interface OpenOptions {
  readonly loaded: LoadedConfiguration;
  /** How the configuration is read again. */
  readonly load: LoadOptions;
  readonly log: Log;
  /** Changes to the time limits of the HTTP layer. */
  readonly times?: Partial<HttpTimes>;
  /** By how many sockets connections come in; one unless it says so. */
  readonly doors?: number;
  /** What output items are timed by; the system's clock unless given. */
  readonly itemClock?: Pick<Clock, 'monotonic'>;
  /** Stages besides those of the table, inside all of them. */
  readonly stages?: readonly Stage[];
}

export interface RunningGateway {
  readonly host: string;
  readonly port: number;
  /** On the very first start: the secrets that are shown once. */
  readonly firstKeys: FirstKeys | undefined;
  /** A model to try: a simulated one where there is one. */
  readonly exampleModel: string | undefined;
  /** Stops accepting, lets what is in flight end (for `limitMs`, by default as configured), closes everything. */
  close(limitMs?: number): Promise<void>;
}

/** Composes a gateway out of its parts and serves. */
export async function openGateway(options: OpenOptions): Promise<RunningGateway> {
  const { loaded, load, log, times, doors, itemClock = systemClock, stages = [] } = options;
  const { config, runtime } = loaded;
  let configured = loaded;
  let known: CatalogSource['known'];
  let running = snapshotOf(configured);
  const renew = () => {
    running = snapshotOf(configured, known);
  };
  /** Beside requests, which have their turns meanwhile. A reload that comes in between has made a catalogue of its own. */
  const renewInTurns = async () => {
    const source = configured;
    const catalog = await runInTurns(buildCatalogSliced(catalogSourceOf(source, known)));
    if (configured === source) running = snapshotOf(source, known, catalog);
  };
  /** Prices change at their hour, whoever looks first makes the catalogue that has them. */
  const current = () => {
    const { dueAtMs } = running.gateway.catalog;
    if (dueAtMs !== undefined && systemClock.now() >= dueAtMs) renew();
    return running;
  };
  const closers: (() => Promise<void> | void)[] = [];
  const closeAll = async () => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    // First of all, so that whoever probes a gateway that takes long to open learns that it is alive and not ready.
    const server = createHttpServer({
      settings: () => running.http,
      ids: randomIds,
      clock: systemClock,
      log,
      ...(times !== undefined && { times }),
      ...(doors !== undefined && { doors }),
    });
    const { host, port } = await server.listen(runtime.host, runtime.port);
    closers.push(() => server.drain(0));
    const installation = await openInstallation({
      dataDir: runtime.dataDir,
      keyPrefix: config.keys.prefix,
      initialUsd: () => running.config.credits.initial_usd,
      encryptionKey: runtime.encryptionKey,
      ...(runtime.database !== undefined && {
        database: {
          address: runtime.database,
          waits: true,
          serves: true,
          keptMs: () => keptMs(running.config.retention.events_days),
        },
      }),
      generationMs: () => running.http.requestDeadlineMs,
      durability: () => running.config.durability.ledger,
      warn: (message, fields) => log.warn(message, fields),
    });
    closers.push(() => installation.close());
    for (const warning of installation.directory.warnings) log.warn(warning);
    for (const warning of installation.vault.warnings) log.warn(warning);
    known = (providers) => installation.modelKnowledge.entriesOf(providers);
    renew();
    installation.modelKnowledge.onChange(renewInTurns);
    const cache = new DiskResponseCache(join(installation.directory.path, 'cache'), log);
    closers.push(() => cache.close());
    const contents = new DiskContentStore({
      directory: join(installation.directory.path, 'content'),
      log,
      clock: systemClock,
    });
    closers.push(() => contents.close());
    const retention = new Retention({
      settings: () => {
        const { events_days, content_days, content_bytes } = running.config.retention;
        return { eventsDays: events_days, contentDays: content_days, contentBytes: content_bytes };
      },
      generations: installation.generationStore,
      events: installation.eventStore,
      contents,
      clock: systemClock,
      log,
    });
    closers.push(() => retention.close());
    const swept = keepSwept(installation.files, log);
    closers.push(() => swept.close());
    const upstreams = openUpstreams({
      vendor: config.vendor,
      clock: systemClock,
      ids: randomIds,
      egress: () => running.egress,
    });
    closers.push(() => upstreams.close());
    const tokenizer = createTokenizer();
    closers.push(() => tokenizer.close());

    const health = new Health({
      clock: systemClock,
      random: Math.random,
      settings: () => running.cooldown,
    });
    const items = new MemoryOutputItems({
      clock: itemClock,
      maxBytes: () => running.config.retention.output_items_bytes,
    });
    const itemsSwept = keepItemsSwept(items);
    closers.push(() => itemsSwept.close());
    const logGeneration = generationLog(log, systemClock);
    const generationMetrics = new GenerationMetrics();
    const gateway = createGateway({
      settings: () => current().gateway,
      formats: INBOUND_DIALECTS,
      stages: [...stageTable({ cache }), ...stages],
      callUpstream: upstreams.call,
      countUpstream: upstreams.countTokens,
      tokenizer,
      previewUpstream: upstreams.preview,
      prepareBody: (format, body) => prepareBody(format, body, running),
      files: installation.storedFiles,
      items,
      ownCredentials: installation.ownCredentials,
      health,
      memory: {
        pins: new Pins({ clock: systemClock, idleMs: () => running.config.routing.sticky_idle_ms }),
        traffic: new Traffic({ clock: systemClock }),
      },
      random: Math.random,
      untranslatable: untranslatableIssues,
      userHashKey: installation.directory.hashKey,
      warn: (message, fields) => log.warn(message, fields),
      ledger: installation.ledger,
      tell: (generation, settlement, times) => {
        generationMetrics.note(generation, settlement, times);
        logGeneration(generation, settlement);
        keepContent({ store: contents, random: Math.random }, generation, settlement);
      },
      clock: systemClock,
    });
    const counts = new RequestCountsFile(installation.directory.path);
    const limiter = new MemoryLimiter(systemClock, counts.read());
    const countsKeeper = keepCounts(limiter, counts, log);
    closers.push(() => countsKeeper.close());
    const byok = new Byok({
      store: installation.byokStore,
      tenancy: installation.tenancy,
      vault: installation.vault,
      sources: installation.sources,
      providers: () => current().gateway.catalog.providers,
      egress: () => running.egress,
      changed: (accountId) => installation.ownCredentials.forget(accountId),
    });
    const loopDelay = new LoopDelay();
    closers.push(() => loopDelay.close());
    const metrics = gatewayMetrics({
      http: server.metrics,
      generations: generationMetrics,
      ledger: installation.ledger,
      health,
      loopDelay,
      version: programVersion(),
    });
    const control = await listenForCommands(
      installation.directory.path,
      {
        ...installation,
        running: () => ({
          version: programVersion(),
          state: server.state,
          requestsInFlight: server.inFlight.requests(),
          generationsInFlight: server.inFlight.generations(),
          loopDelaySeconds: loopDelay.longest,
        }),
      },
      log,
    );
    closers.push(() => control.close());
    const watch = watchConfiguration({
      initial: loaded,
      load: () => loadConfigurationInThread(load),
      apply: (next) => {
        running = snapshotOf(next, known);
        configured = next;
      },
      log,
    });
    closers.push(() => watch.close());
    // Last of all: keys that are shown once must not be made for a start that then fails.
    const firstKeys = await installation.whenThere(() => bootstrap(installation, runtime));
    const firstAccount = await installation.whenThere(() => installation.accounts.ensureFirst());
    const questions = {
      events: installation.eventStore,
      tenancy: installation.tenancy,
      clock: systemClock,
    };
    await server.serve({
      catalog: () => current().gateway.catalog,
      callers: installation.callers,
      gateway,
      limiter,
      byok,
      accountKeys: installation.accountKeys,
      workspaces: installation.workspaces,
      budgets: installation.budgets,
      credits: installation.credits,
      files: installation.files,
      analytics: new Analytics({ ...questions, apps: installation.appRegistry }),
      activity: new Activity(questions),
      metrics: () => expositionOf(metrics),
      firstAccountId: firstAccount.id,
      fault: installation.fault,
      generations: new Generations({
        recent: installation.recentGenerations,
        rows: installation.generationStore,
        contents,
        apps: installation.appRegistry,
      }),
      rankings: new Rankings({
        events: installation.eventStore,
        apps: installation.appRegistry,
        hidden: () => running.config.apps.hidden,
        clock: systemClock,
      }),
    });
    return {
      host,
      port,
      firstKeys,
      exampleModel: exampleOf(running.gateway.catalog),
      async close(limitMs = running.config.drain_ms) {
        await server.drain(limitMs);
        await Promise.race([gateway.settled(), delay(SETTLING_MS, undefined, { ref: false })]);
        await closeAll();
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

function exampleOf({ models, resolve }: Catalog): string | undefined {
  return (resolve(FIRST_MODEL) ?? models.find(({ endpoints }) => endpoints.length > 0))?.id;
}

/** What the command line gives to `serve`. */
export interface ServeOptions {
  readonly flags: NonNullable<LoadOptions['flags']>;
  /** Whether the first start prints its keys as JSON. */
  readonly asJson: boolean;
}

/** Connections that are taken in a turn of the event loop; each further one costs a connection that comes alone some microseconds. */
const DOORS = 32;

/** `signalbox serve`: opens a gateway, says where it is, and closes it on SIGTERM or SIGINT. Rejects when it cannot start. */
export async function startGateway({ flags, asJson }: ServeOptions): Promise<void> {
  const load = loadOptions(flags);
  const loaded = requireConfiguration(load);
  const log = openStderrLog(loaded.runtime.logLevel);
  for (const warning of loaded.warnings) log.warn(problemLine(warning));
  for (const { slug, variables, switchesOn } of loaded.providerKeys) {
    const effect = switchesOn ? 'switched on' : 'given its key';
    log.info(`${slug} is ${effect} by ${variables.join(', ')}`);
  }
  const gateway = await openGateway({ loaded, load, log, doors: DOORS });
  const url = baseUrl(gateway.host, gateway.port, loaded.config.server.base_path);
  const { firstKeys, exampleModel } = gateway;
  if (firstKeys !== undefined) {
    process.stdout.write(
      asJson ? firstStartJson(firstKeys, url) : firstStartText(firstKeys, url, exampleModel),
    );
  }
  log.info('ready', { address: url, data_dir: loaded.runtime.dataDir, config: loaded.file });

  let isStopping = false;
  const stop = (signal: NodeJS.Signals) => {
    if (isStopping) return;
    isStopping = true;
    log.info('draining', { signal });
    gateway.close().then(
      () => {
        log.info('stopped');
        process.exit(0);
      },
      (error: unknown) => {
        log.error('stopping failed', { error });
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  // A package runner puts a shell between itself and us that passes no signal on: when it is gone, so is our reason to be.
  if (loaded.environment.npm_execpath !== undefined) onParentGone(() => stop('SIGTERM'));
}

const PARENT_CHECK_MS = 500;

function onParentGone(react: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    react();
  }, PARENT_CHECK_MS);
  timer.unref();
}
