import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { AddedProvider } from '../catalog/model-entries.ts';
import type { LoadedConfiguration } from '../config/load.ts';
import { workerCountOf } from '../config/worker-count.ts';
import type { HttpServer } from '../http/http-server.ts';
import type { Log } from '../kit/log/log.ts';
import { isInTime } from '../kit/loop/is-in-time.ts';
import type { MetricFamily } from '../kit/metrics/metric-family.ts';
import {
  type MergeRule,
  type MetricSnapshot,
  mergeSnapshots,
  snapshotOf,
} from '../kit/metrics/metric-snapshot.ts';
import { WORKER_MODULE } from '../kit/program-files.ts';
import { systemClock } from '../kit/time/clock.ts';
import type { ContentStore } from '../ports/content/content.ts';
import type { ResponseCache } from '../ports/content/response-cache.ts';
import type { Change } from '../ports/shared/changes.ts';
import type { Limiter } from '../ports/shared/limiter.ts';
import type { CallTallies } from '../routing/health/call-tallies.ts';
import { portHandlers } from '../workers/ports/port-calls.ts';
import { ServedLedger } from '../workers/ports/served-ledger.ts';
import { WorkerGroup } from '../workers/supervision/worker-group.ts';
import { workerMetrics } from '../workers/supervision/worker-metrics.ts';
import type { WorkerProcess } from '../workers/supervision/worker-process.ts';
import type { Engine, EngineMemory } from './engine.ts';
import type { Installation } from './installation.ts';
import {
  type CalledPorts,
  OWNER_METHODS,
  type OwnerCalls,
  type WorkerCalls,
  type WorkerFigures,
  type WorkerStart,
} from './worker-protocol.ts';

/** What the owner opens its workers with. */
export interface WorkerOwnerOptions {
  readonly loaded: LoadedConfiguration;
  /** Answers the requests that workers forward. */
  readonly server: Pick<HttpServer, 'accept'>;
  readonly log: Log;
  readonly logSettings: WorkerStart['log'];
  /** Writes lines of workers to the log. */
  writeLog(lines: string): void;
}

/** What workers use, once it is open. */
export interface OwnedParts {
  readonly installation: Installation;
  readonly engine: Engine;
  readonly cache: ResponseCache;
  readonly contents: Pick<ContentStore, 'put'>;
  readonly limiter: Limiter;
  /** Counts the calls of endpoints, those of workers too. */
  readonly callTallies: CallTallies;
  /** What processes share of routing and output items. */
  readonly memory: EngineMemory;
  readonly firstAccountId: string;
}

/** Figures of which the sum over processes says nothing. */
const MERGE_RULES: Readonly<Record<string, MergeRule>> = {
  signalbox_info: 'highest',
  signalbox_configuration_age_seconds: 'highest',
  signalbox_configuration_file_refused: 'highest',
  signalbox_event_loop_delay_seconds: 'highest',
  process_start_time_seconds: 'lowest',
};

/** How long a response waits for workers to hear of a change, milliseconds. One that hangs is replaced. */
const CHANGE_MS = 1_000;

/** How long a reload waits for workers, milliseconds; the next one waits for it. */
const RELOAD_MS = 2_000;

/** How often workers hear up to when all changes of a shared database are known, milliseconds. */
const SEEN_MS = 200;

/** How long `/metrics` waits for the figures of a worker, milliseconds. */
const FIGURES_MS = 1_000;

/** How long a request waits for output items that a worker may have, milliseconds: one that hangs has none. */
const ITEMS_MS = 1_000;

/** Time beyond the drain limit after which a worker is ended, milliseconds. */
const DRAIN_MARGIN_MS = 5_000;

type Worker = WorkerProcess<WorkerCalls>;

interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * The owner of several serving processes: it has the data directory and all stores, and answers what workers forward.
 * Workers run the generations.
 */
export class WorkerOwner {
  readonly #options: WorkerOwnerOptions;
  readonly #count: number;
  /** The newest configuration: workers that start later begin with it. */
  #loaded: LoadedConfiguration;
  /** The providers that the operator has added, as last read. */
  #providers: readonly AddedProvider[] = [];
  #asked: Address = { host: '', port: 0 };
  #onBound: (address: Address) => void = () => {};
  /** Resolves when the first worker listens. */
  readonly #bound = new Promise<Address>((resolve) => {
    this.#onBound = resolve;
  });
  #group: WorkerGroup<WorkerCalls> | undefined;
  #opening: Promise<void> = Promise.resolve();
  #parts: OwnedParts | undefined;
  #onParts: (parts: OwnedParts) => void = () => {};
  readonly #partsOpen = new Promise<OwnedParts>((resolve) => {
    this.#onParts = resolve;
  });
  /** Changes that not all workers have confirmed. */
  #unconfirmed: Promise<void> | undefined;
  #seenTimer: NodeJS.Timeout | undefined;
  /** The last figures of each worker, by its number. */
  readonly #figures = new Map<number, WorkerFigures>();
  /** Sums of workers that are gone. */
  #departed: readonly MetricSnapshot[] = [];

  constructor(options: WorkerOwnerOptions) {
    this.#options = options;
    this.#count = workerCountOf(options.loaded);
    this.#loaded = plain(options.loaded);
  }

  /** Starts the workers, which bind the port and answer probes. Rejects when the port cannot be bound. */
  async listen(host: string, port: number): Promise<Address> {
    const { server, log, writeLog } = this.#options;
    // A replaced worker must find the port that the others have.
    this.#asked = { host, port: port === 0 ? await freePort(host) : port };
    const group = new WorkerGroup<WorkerCalls>({
      module: WORKER_MODULE,
      count: this.#count,
      log,
      writeLog,
      forwarding: {
        accept: (request, response) => server.accept(request, response),
        changesKnown: () => this.#unconfirmed,
      },
      serve: (worker) => this.#serve(worker),
      open: (worker) => this.#open(worker),
      ping: (worker) => this.#ping(worker),
    });
    this.#group = group;
    this.#opening = group.open();
    return Promise.race([this.#bound, this.#opening.then(() => this.#asked)]);
  }

  /** Lets the workers serve with these parts. Resolves when all do. */
  async serve(parts: OwnedParts): Promise<void> {
    const { installation, engine } = parts;
    this.#parts = parts;
    const { changes } = installation;
    changes.subscribe((change) => this.#relay(change));
    if (installation.hasSharedDatabase) {
      const tellSeen = () => this.#tell('changesSeen', systemClock.monotonic() - changes.seenUntilMs());
      this.#seenTimer = setInterval(tellSeen, SEEN_MS).unref();
    }
    installation.vault.watchKeys((keys) => {
      this.#tell(
        'useEncryptionKeys',
        keys.map(({ bytes }) => bytes),
      );
    });
    installation.modelKnowledge.onChange(async () => this.#tell('knowledgeChanged'));
    engine.tail.watchReaders((isWatched) => this.#tell('watchGenerations', isWatched));
    this.#onParts(parts);
    await this.#opening;
  }

  /** Takes a new configuration into use in all workers. Does not wait for one that hangs, which is replaced. */
  async reload(loaded: LoadedConfiguration): Promise<void> {
    this.#loaded = plain(loaded);
    await this.#have('reload', this.#loaded);
  }

  /** Takes other providers of the operator into use in all workers, likewise. */
  async useProviders(entries: readonly AddedProvider[]): Promise<void> {
    this.#providers = entries;
    await this.#have('useProviders', entries);
  }

  /** Requests and generations in flight at all workers, and their longest delay of the event loop; a second old. */
  get figures(): Pick<WorkerFigures, 'requests' | 'generations' | 'loopDelaySeconds'> {
    const all = [...this.#figures.values()];
    return {
      requests: all.reduce((sum, { requests }) => sum + requests, 0),
      generations: all.reduce((sum, { generations }) => sum + generations, 0),
      loopDelaySeconds: Math.max(0, ...all.map(({ loopDelaySeconds }) => loopDelaySeconds)),
    };
  }

  /** The metrics of all processes as those of one. */
  async metricsWith(own: readonly MetricFamily[]): Promise<readonly MetricFamily[]> {
    const workers = this.#group?.serving ?? [];
    await Promise.all(
      workers.map((worker) =>
        isInTime(
          this.#ping(worker).catch(() => {}),
          FIGURES_MS,
        ),
      ),
    );
    const ofWorkers = [...this.#figures.values()].flatMap(({ metrics }) => metrics);
    // Forwarded requests are in flight at their worker too.
    const all = [
      ...own.filter(({ name }) => name !== 'signalbox_http_requests_in_flight'),
      ...workerMetrics(() => this.#group),
    ].map(snapshotOf);
    return mergeSnapshots([...all, ...ofWorkers, ...this.#departed], MERGE_RULES);
  }

  /** As `HttpServer.leave`, for all workers. */
  async leave(graceMs: number): Promise<void> {
    const workers = this.#group?.serving ?? [];
    await Promise.all(workers.map(({ channel }) => channel.call('leave', graceMs).catch(() => {})));
  }

  /** Lets all workers end their work, and ends them. */
  async drain(limitMs: number): Promise<void> {
    await this.#group?.stop(({ channel }) => channel.call('drain', limitMs), limitMs + DRAIN_MARGIN_MS);
  }

  /** Ends all workers at once. */
  async close(): Promise<void> {
    clearInterval(this.#seenTimer);
    await this.#group?.close();
  }

  #serve(worker: number): { readonly handlers: ReturnType<typeof portHandlers>; gone(): void } {
    let ledger: ServedLedger | undefined;
    let ports: CalledPorts | undefined;
    const open = (): CalledPorts => {
      const { installation, cache, limiter, memory } = this.#requireParts();
      ledger = new ServedLedger(installation.ledger, installation.settleInterrupted);
      return {
        ledger,
        tenancy: installation.tenancy,
        guardrails: installation.guardrailStore,
        byok: installation.byokStore,
        sessions: installation.sessionStore,
        files: installation.storedFiles.store,
        mcpMemory: installation.mcpMemory,
        refusedRequests: installation.refusedRequests,
        limiter,
        ...sharedPorts(memory),
        cache,
      };
    };
    const opened = (): CalledPorts => {
      ports ??= open();
      return ports;
    };
    return {
      handlers: { ...portHandlers(opened, OWNER_METHODS), ...this.#calls(worker) },
      gone: () => {
        this.#departed = [...mergedSnapshots([...this.#departed, ...this.#lastingOf(worker)])];
        this.#figures.delete(worker);
        void ledger?.workerGone();
      },
    };
  }

  /** The sums of a worker that must not fall when it is gone. */
  #lastingOf(worker: number): readonly MetricSnapshot[] {
    return (this.#figures.get(worker)?.metrics ?? []).filter(({ type }) => type !== 'gauge');
  }

  #calls(worker: number): OwnerCalls {
    return {
      keepCached: (key, cached) => this.#requireParts().cache.keep(key, cached),
      keepContent: (content) => this.#requireParts().contents.put(content),
      spoolContent: (content) => this.#requireParts().installation.spooledContents.put(content),
      replaceToken: async (token, secret) => {
        const { byokCredentials, changes } = this.#requireParts().installation;
        await byokCredentials.replace({ ...token, reveal: () => secret }, secret);
        changes.publish({ kind: 'credentials', accountId: token.accountId });
      },
      listFiles: (caller, page) => this.#requireParts().installation.files.list(caller, page),
      makeFile: (caller, filename, content) =>
        this.#requireParts().installation.files.make(caller, filename, content),
      findItemsElsewhere: async (keyHash, ids) => {
        const others = (this.#group?.serving ?? []).filter(({ number }) => number !== worker);
        const found = new Map<string, string>();
        const asked = others.map(async ({ channel }) => {
          for (const [id, item] of await channel.call('findItems', keyHash, ids)) found.set(id, item);
        });
        await isInTime(Promise.allSettled(asked), ITEMS_MS);
        return new Map(found);
      },
      generationEnded: (generation) => this.#requireParts().engine.tail.pass(generation),
      providerFailed: (provider, failure) => this.#requireParts().engine.failures.take(provider, failure),
      callsCounted: (counted) => this.#requireParts().callTallies.add(counted),
      catchUpWithChanges: () => this.#requireParts().installation.changes.catchUp(),
    };
  }

  #requireParts(): OwnedParts {
    if (this.#parts === undefined) throw new Error('the gateway is starting');
    return this.#parts;
  }

  async #open({ number, channel }: Worker): Promise<void> {
    const { host, port } = this.#asked;
    const listen = async () => this.#onBound(await channel.call('listen', host, port));
    await channel.call('start', {
      worker: number,
      loaded: this.#loaded,
      providers: this.#providers,
      log: this.#options.logSettings,
    });
    // While the gateway starts, probes are answered. One that takes the place of another accepts when it can serve.
    const isReplacement = this.#parts !== undefined;
    if (!isReplacement) await listen();
    const { installation, engine, memory, firstAccountId } = await this.#partsOpen;
    await channel.call('serve', {
      dataDir: installation.directory.path,
      hashKey: installation.directory.hashKey,
      encryptionKeys: encryptionKeysOf(installation),
      firstAccountId,
      hasSharedDatabase: installation.hasSharedDatabase,
      watchesGenerations: engine.tail.hasReaders,
      gatewayId: memory.gatewayId,
      sharesItems: memory.stores.items !== undefined,
    });
    // What has changed while it did not serve yet.
    channel.note('useEncryptionKeys', encryptionKeysOf(installation));
    channel.note('watchGenerations', engine.tail.hasReaders);
    await channel.call('knowledgeChanged');
    if (isReplacement) await listen();
  }

  async #ping({ number, channel }: Worker): Promise<void> {
    this.#figures.set(number, await channel.call('ping'));
  }

  /** Tells all workers of a change, and keeps responses back until they know. */
  #relay(change: Change): void {
    const told = (this.#group?.all ?? []).map(({ channel }) =>
      channel.call('change', change).catch(() => {}),
    );
    const confirmed = Promise.all([this.#unconfirmed, isInTime(Promise.all(told), CHANGE_MS)]).then(() => {
      if (this.#unconfirmed === confirmed) this.#unconfirmed = undefined;
    });
    this.#unconfirmed = confirmed;
  }

  /** Waits for all workers, also those that are starting, which have begun with what was before. */
  async #have<Name extends 'reload' | 'useProviders'>(
    name: Name,
    ...args: Parameters<WorkerCalls[Name]>
  ): Promise<void> {
    const told = (this.#group?.all ?? []).map(({ channel }) => channel.call(name, ...args));
    await isInTime(Promise.allSettled(told), RELOAD_MS);
  }

  #tell<Name extends keyof WorkerCalls>(name: Name, ...args: Parameters<WorkerCalls[Name]>): void {
    for (const { channel } of this.#group?.all ?? []) channel.note(name, ...args);
  }
}

/** What processes share, as workers call it: each question goes through the gate of the owner. */
function sharedPorts({ stores, gate }: EngineMemory): Pick<CalledPorts, 'routingMemory' | 'sharedItems'> {
  const { routing, items } = stores;
  const requireItems = () => {
    if (items === undefined) throw new Error('output items are not shared');
    return items;
  };
  return {
    routingMemory: {
      findPin: (key) => gate.ask(() => routing.findPin(key)),
      setPin: (key, pin, idleMs) => gate.ask(() => routing.setPin(key, pin, idleMs)),
      exchange: (given) => gate.ask(() => routing.exchange(given)),
      takeProbe: (place, processId, forMs) => gate.ask(() => routing.takeProbe(place, processId, forMs)),
      endProbe: (place, processId, keepMs) => gate.ask(() => routing.endProbe(place, processId, keepMs)),
    },
    sharedItems: {
      keep: (keyHash, id, text) => gate.ask(() => requireItems().keep(keyHash, id, text)),
      find: (keyHash, ids) => gate.ask(() => requireItems().find(keyHash, ids)),
    },
  };
}

function encryptionKeysOf({ vault }: OwnedParts['installation']): readonly Uint8Array[] {
  return vault.keys.map(({ bytes }) => bytes);
}

/** A port that nothing listens on now. */
async function freePort(host: string): Promise<number> {
  const server = createServer().listen({ host, port: 0 });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** A configuration that can be sent: the environment of a process is no plain object. */
function plain(loaded: LoadedConfiguration): LoadedConfiguration {
  return { ...loaded, environment: { ...loaded.environment } };
}

function mergedSnapshots(snapshots: readonly MetricSnapshot[]): readonly MetricSnapshot[] {
  return mergeSnapshots(snapshots).map(snapshotOf);
}
