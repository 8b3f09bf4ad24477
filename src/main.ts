import { buildCatalog, KNOWN_PROVIDERS } from './catalog/build-catalog.ts';
import { firstStartText } from './cli/first-start.ts';
import {
  type LoadedConfiguration,
  type LoadOptions,
  loadConfiguration,
  requireConfiguration,
} from './config/load.ts';
import { watchConfiguration } from './config/watch.ts';
import { listenForCommands } from './control/listen.ts';
import { INBOUND_DIALECTS } from './dialects/dialects.ts';
import { fillPromptTemplate, type PromptTemplate } from './dialects/prompt-template.ts';
import { unknownItemIssues } from './dialects/responses/parse-request.ts';
import { lazyTokenizer } from './gateway/estimate.ts';
import { createGateway, type GatewaySnapshot } from './gateway/generate.ts';
import { generationLog } from './gateway/generation-log.ts';
import type { HttpSettings, HttpTimes } from './http/dependencies.ts';
import { createHttpServer } from './http/server.ts';
import { randomIds, systemClock } from './kit/ids.ts';
import { type Log, openStderrLog } from './kit/log.ts';
import { Accounts } from './manage/accounts.ts';
import { KeyDirectory } from './manage/authenticate-key.ts';
import { bootstrap, type FirstKeys } from './manage/bootstrap.ts';
import { Keys } from './manage/keys.ts';
import { systemSources } from './manage/sources.ts';
import type { Tenancy } from './ports/tenancy.ts';
import { openDataDirectory } from './store/data-directory.ts';
import { openSqlite } from './store/sql/open-sqlite.ts';
import { SqliteTenancy } from './store/sql/sqlite-tenancy.ts';
import { openUpstreams } from './upstream/open-upstreams.ts';

/** What a gateway is opened with. */
export interface OpenOptions {
  readonly loaded: LoadedConfiguration;
  /** How the configuration is read again. */
  readonly load: LoadOptions;
  readonly log: Log;
  /** Changes to the time limits of the HTTP layer. */
  readonly times?: Partial<HttpTimes>;
}

export interface RunningGateway {
  readonly host: string;
  readonly port: number;
  /** On the very first start: the secrets that are shown once. */
  readonly firstKeys: FirstKeys | undefined;
  /** Stops accepting, lets what is in flight end (for `limitMs`, by default as configured), closes everything. */
  close(limitMs?: number): Promise<void>;
}

/** Composes a gateway out of its parts and serves. */
export async function openGateway({ loaded, load, log, times }: OpenOptions): Promise<RunningGateway> {
  const { runtime } = loaded;
  let running = snapshotOf(loaded);
  const closers: (() => Promise<void> | void)[] = [];
  const close = async () => {
    for (const closer of closers.reverse()) await closer();
  };
  try {
    const directory = openDataDirectory(runtime.dataDir, runtime.encryptionKey);
    closers.push(() => directory.close());
    const database = await openSqlite(directory.databaseFile, systemClock.now());
    closers.push(() => database.destroy());

    const tenants = openTenants(new SqliteTenancy(database), loaded.config.keys.prefix);
    const firstKeys = await bootstrap({ ...tenants, sources: systemSources }, runtime);
    const control = await listenForCommands(directory.path, tenants, log);
    closers.push(() => control.close());

    const upstreams = openUpstreams({ vendor: loaded.config.vendor, clock: systemClock });
    closers.push(() => upstreams.close());

    const gateway = createGateway({
      snapshot: () => running.gateway,
      formats: INBOUND_DIALECTS,
      stages: [],
      callUpstream: upstreams.call,
      countUpstream: upstreams.countTokens,
      openTokenizer: lazyTokenizer(),
      prepareBody: (format, body) =>
        format === 'responses' ? fillPromptTemplate(body, running.prompts) : body,
      untranslatable: unknownItemIssues,
      userHashKey: directory.hashKey,
      record: generationLog(log, systemClock),
      clock: systemClock,
    });
    const server = createHttpServer({
      settings: () => running.http,
      catalog: () => running.gateway.catalog,
      keys: tenants.directory,
      gateway,
      ids: randomIds,
      clock: systemClock,
      log,
      ...(times !== undefined && { times }),
    });
    const watch = watchConfiguration({
      initial: loaded,
      load: () => loadConfiguration(load),
      apply: (next) => {
        running = snapshotOf(next);
      },
      log,
    });
    closers.push(() => watch.close());

    const { host, port } = await server.listen(runtime.host, runtime.port);
    server.ready();
    return {
      host,
      port,
      firstKeys,
      async close(limitMs = running.config.drain_ms) {
        await server.drain(limitMs);
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Everything that a configuration decides and a reload replaces. */
interface Snapshot {
  readonly config: LoadedConfiguration['config'];
  readonly prompts: Readonly<Record<string, PromptTemplate>>;
  readonly gateway: GatewaySnapshot;
  readonly http: HttpSettings;
}

function snapshotOf({ config }: LoadedConfiguration): Snapshot {
  return {
    config,
    prompts: promptsOf(config.prompts),
    gateway: {
      vendor: config.vendor,
      region: config.server.region,
      catalog: buildCatalog(config),
      attempts: {
        perModel: config.routing.attempts_per_model,
        perRequest: config.routing.attempts_per_request,
      },
    },
    http: {
      vendor: config.vendor,
      basePath: config.server.base_path,
      maxBodyBytes: config.server.max_body_bytes,
      requestDeadlineMs: config.server.request_deadline_ms,
      maxConcurrentRequests: config.limits.max_concurrent_requests,
    },
  };
}

function promptsOf(given: LoadedConfiguration['config']['prompts']): Snapshot['prompts'] {
  return Object.fromEntries(
    Object.entries(given).map(([id, { instructions, input }]) => [
      id,
      { instructions: instructions ?? undefined, input: input ?? undefined },
    ]),
  );
}

function openTenants(tenancy: Tenancy, keyPrefix: string) {
  const directory = new KeyDirectory(tenancy, systemClock);
  const accounts = new Accounts(tenancy, systemSources);
  const keys = new Keys(tenancy, accounts, systemSources, keyPrefix, (hash) => directory.forget(hash));
  return { tenancy, directory, accounts, keys };
}

/** What the command line gives to `serve`. */
export interface ServeOptions {
  readonly flags: NonNullable<LoadOptions['flags']>;
}

/** `signalbox serve`: opens a gateway, says where it is, and closes it on SIGTERM or SIGINT. Rejects when it cannot start. */
export async function startGateway({ flags }: ServeOptions): Promise<void> {
  const load: LoadOptions = { flags, knownProviders: KNOWN_PROVIDERS };
  const loaded = requireConfiguration(load);
  const log = openStderrLog(loaded.runtime.logLevel);
  for (const { path, message } of loaded.warnings) log.warn(`${path} ${message}`);
  const gateway = await openGateway({ loaded, load, log });
  const base = `http://${gateway.host.includes(':') ? `[${gateway.host}]` : gateway.host}:${gateway.port}${loaded.config.server.base_path}`;
  if (gateway.firstKeys !== undefined) process.stdout.write(firstStartText(gateway.firstKeys, base));
  log.info('ready', { address: base, data_dir: loaded.runtime.dataDir, config: loaded.file });

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
}
