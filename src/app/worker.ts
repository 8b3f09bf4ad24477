import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { encryptionKeyOf } from '../kit/crypto/encrypt.ts';
import { type Log, openStderrLog } from '../kit/log/log.ts';
import { LoopDelay } from '../kit/metrics/loop-delay.ts';
import { snapshotOf } from '../kit/metrics/metric-snapshot.ts';
import { systemClock } from '../kit/time/clock.ts';
import { ByokDirectory } from '../manage/byok/byok-directory.ts';
import { SecretCipher, type SecretKeys } from '../manage/byok/secret-cipher.ts';
import { requireDownloadable } from '../manage/files/files.ts';
import { Freshness } from '../manage/freshness.ts';
import { CallerDirectory } from '../manage/keys/caller-directory.ts';
import { requireFound } from '../manage/refusals.ts';
import { SessionCallers } from '../manage/sessions/session-callers.ts';
import { systemSources } from '../manage/sources.ts';
import { createEgress } from '../net/egress/egress.ts';
import { workerMetrics } from '../operator/gateway-metrics.ts';
import type { ResponseCache } from '../ports/content/response-cache.ts';
import type { Limiter } from '../ports/shared/limiter.ts';
import { RunningSettings } from '../settings/running-settings.ts';
import { guardrailJudges } from '../stages/guardrails/judges/guardrail-judges.ts';
import { openFileReader } from '../store/files/file-storage.ts';
import { Channel, type ChannelSockets, type Handlers } from '../workers/channel/channel.ts';
import type { OwnerForwardingCalls } from '../workers/forwarding/forwarding-calls.ts';
import { RequestForwarder } from '../workers/forwarding/request-forwarder.ts';
import { remotePorts } from '../workers/ports/port-calls.ts';
import { RemoteChanges } from '../workers/ports/remote-changes.ts';
import { RemoteLedger } from '../workers/ports/remote-ledger.ts';
import { Closers } from './closers.ts';
import { openCallTallies, reportCalls } from './endpoint-uptime.ts';
import { type Engine, type EngineInstallation, openEngine } from './engine.ts';
import { openModelKnowledge } from './installation.ts';
import { type ListeningServer, openServer } from './listening-server.ts';
import { OPEN_GATE } from './shared-memory.ts';
import {
  type CalledPorts,
  OWNER_METHODS,
  type OwnerCalls,
  type WorkerCalls,
  type WorkerFigures,
  type WorkerStart,
  type WorkerState,
} from './worker-protocol.ts';

/** How long draining waits for abandoned generations to be settled, milliseconds. */
const SETTLING_MS = 2_000;

/** The sockets to the owner: for calls, and for requests that are forwarded. */
export interface OwnerSockets {
  readonly calls: ChannelSockets;
  readonly forwarding: ChannelSockets;
}

/** What a worker has from its start on. */
interface Started {
  readonly settings: RunningSettings;
  readonly server: ListeningServer;
  readonly loopDelay: LoopDelay;
  readonly log: Log;
}

/** A worker that serves. */
interface Serving {
  readonly engine: Engine;
  readonly changes: RemoteChanges;
  readonly cipher: SecretCipher;
  readKnowledge(): Promise<void>;
}

/** A serving process: runs generations, and reaches everything that is stored through its owner. */
export class Worker {
  readonly #owner: Channel<OwnerCalls & Handlers, WorkerCalls>;
  readonly #ports: CalledPorts;
  readonly #forwarder: RequestForwarder;
  readonly #closers = new Closers();
  #started: Started | undefined;
  #serving: Serving | undefined;

  /** `ownerGone` is called when the owner has ended: there is nothing left to do then. */
  constructor({ calls, forwarding }: OwnerSockets, ownerGone: () => void) {
    const failed = (name: string, error: unknown) =>
      this.#started?.log.error('a message of the owner failed', { name, error });
    const events = { closed: ownerGone, failed };
    this.#owner = new Channel(calls, this.#handlers(), events);
    this.#ports = remotePorts<CalledPorts>((name, ...args) => this.#owner.call(name, ...args), OWNER_METHODS);
    this.#forwarder = new RequestForwarder((name, ...args) => owner.note(name, ...args));
    const owner = new Channel<OwnerForwardingCalls, Handlers>(forwarding, this.#forwarder.handlers, events);
  }

  #handlers(): WorkerCalls {
    return {
      start: (start) => this.#start(start),
      listen: (host, port) => this.#requireStarted().server.listen(host, port),
      serve: (state) => this.#serve(state),
      ping: () => this.#figures(),
      changesSeen: (ageMs) => this.#serving?.changes.noteSeen(ageMs),
      reload: async (loaded) => this.#started?.settings.reload(loaded),
      useProviders: async (providers) => this.#started?.settings.useProviders(providers),
      knowledgeChanged: async () => this.#serving?.readKnowledge(),
      change: (change) => this.#serving?.changes.publish(change),
      useEncryptionKeys: (keys) => this.#serving?.cipher.use(secretKeys(keys)),
      watchGenerations: (isWatched) => this.#watch(isWatched),
      findItems: async (keyHash, ids) => this.#serving?.engine.ownItems.find(keyHash, ids) ?? new Map(),
      leave: async (graceMs) => this.#started?.server.leave(graceMs),
      drain: (limitMs) => this.#drain(limitMs),
    };
  }

  async #start({ worker, loaded, providers, log: { level, ...lines } }: WorkerStart): Promise<void> {
    const log = openStderrLog({ logLevel: level, ...lines }).with({ worker });
    const settings = new RunningSettings(loaded);
    const loopDelay = this.#closers.add('the measurement of the event loop', new LoopDelay());
    // The owner answers `/metrics`, except while it is starting.
    const metrics = { families: [], refresh: async () => {} };
    const options = { forward: this.#forwarder.forward };
    const server = openServer(loaded, settings, metrics, options, log, this.#closers);
    this.#started = { settings, server, loopDelay, log };
    await settings.useProviders(providers);
  }

  async #serve(state: WorkerState): Promise<void> {
    const { settings, server, log } = this.#requireStarted();
    const ports = this.#ports;
    const cipher = new SecretCipher(secretKeys(state.encryptionKeys));
    const changes = new RemoteChanges({
      clock: systemClock,
      catchUp: () => this.#owner.call('catchUpWithChanges'),
      isOwnerOnlyWriter: !state.hasSharedDatabase,
    });
    const freshness = new Freshness(changes, systemClock);
    const callers = new CallerDirectory(ports.tenancy, ports.guardrails, systemClock, freshness);
    const byokCredentials = new ByokDirectory(
      ports.byok,
      cipher,
      (token, secret) => this.#owner.call('replaceToken', token, secret),
      systemClock,
      freshness,
    );
    changes.subscribe((change) => callers.forget(change));
    changes.subscribe((change) => byokCredentials.forget(change));
    const limiter: Limiter = {
      take: (limits) => ports.limiter.take(limits),
      // Fails only with the owner, and this process with it. Mostly there is no limit of tokens, and nothing to add.
      add: async (counts) => (counts.length === 0 ? undefined : ports.limiter.add(counts).catch(() => {})),
    };
    const egress = createEgress({ rules: () => settings.latest.egress });
    const presidioUrl = () => settings.latest.config.guardrails.presidio_url ?? null;
    const readKnowledge = async () => {
      const knowledge = await openModelKnowledge(state.dataDir);
      settings.setKnowledge((providers) => knowledge.entriesOf(providers));
    };
    await readKnowledge();
    const callTallies = openCallTallies();
    const report = reportCalls(callTallies, (counted) => this.#owner.note('callsCounted', counted));
    this.#closers.add('the report of calls', report);
    const engine = openEngine(
      {
        vendor: settings.latest.config.vendor,
        settings,
        installation: {
          ...this.#files(state),
          ledger: new RemoteLedger(ports.ledger),
          byokCredentials,
          mcpMemory: ports.mcpMemory,
          refusedRequests: ports.refusedRequests,
          hashKey: Buffer.from(state.hashKey),
        },
        cache: this.#cache(),
        contents: { put: (content) => this.#owner.note('keepContent', content) },
        spooledContents: { put: (content) => this.#owner.note('spoolContent', content) },
        findItemsElsewhere: (keyHash, ids) => this.#owner.call('findItemsElsewhere', keyHash, ids),
        egress,
        judgesFor: guardrailJudges({ egress, presidioUrl }),
        limiter,
        callTallies,
        shared: {
          stores: {
            routing: ports.routingMemory,
            ...(state.sharesItems && { items: ports.sharedItems }),
          },
          gate: OPEN_GATE,
          gatewayId: state.gatewayId,
          processId: randomUUID(),
        },
        firstAccountId: () => state.firstAccountId,
        log,
      },
      this.#closers,
    );
    await engine.news?.open();
    engine.failures.watch((provider, failure) => this.#owner.note('providerFailed', provider, failure));
    this.#serving = { engine, changes, cipher, readKnowledge };
    this.#watch(state.watchesGenerations);
    await server.serve({
      catalog: () => settings.current.gateway.catalog,
      callers,
      sessions: new SessionCallers({ store: ports.sessions, callers, sources: systemSources }),
      gateway: engine.gateway,
      refusals: engine.refusals,
      limiter,
      mcp: engine.mcpOffers,
    });
  }

  /** Files are read where they are kept, since they do not change. The owner makes and lists them. */
  #files({ dataDir }: WorkerState): Pick<EngineInstallation, 'files' | 'storedFiles'> {
    const { settings, log } = this.#requireStarted();
    const { s3 } = settings.latest.config.storage;
    const warn = (message: string, fields?: Readonly<Record<string, unknown>>) => log.warn(message, fields);
    const bytes = this.#closers.add('contents of files', openFileReader(dataDir, s3, systemClock, warn));
    const store = this.#ports.files;
    return {
      storedFiles: { store, bytes },
      files: {
        list: (caller, page) => this.#owner.call('listFiles', caller, page),
        make: (caller, filename, content) => this.#owner.call('makeFile', caller, filename, content),
        read: async (caller, id, purpose) => {
          const file = requireFound(await store.find(caller.workspaceId, id));
          if (purpose?.isDownload === true) requireDownloadable(file);
          return { file, content: requireFound(await bytes.read(id)) };
        },
      },
    };
  }

  #cache(): ResponseCache {
    const { find, forget } = this.#ports.cache;
    return { find, forget, keep: (key, cached) => this.#owner.note('keepCached', key, cached) };
  }

  #endWatch: () => void = () => {};

  /** Tells the owner of ended generations while somebody watches them there. */
  #watch(isWatched: boolean): void {
    this.#endWatch();
    this.#endWatch = () => {};
    if (!isWatched) return;
    const end = this.#serving?.engine.tail.read((generation) =>
      this.#owner.note('generationEnded', generation),
    );
    if (end !== undefined) this.#endWatch = end;
  }

  #figures(): WorkerFigures {
    const { server, loopDelay } = this.#requireStarted();
    const engine = this.#serving?.engine;
    return {
      requests: server.inFlight.requests(),
      generations: server.inFlight.generations(),
      loopDelaySeconds: loopDelay.longest,
      metrics: workerMetrics({
        http: server.metrics,
        loopDelay,
        generations: engine?.generationMetrics,
        guardrails: engine?.guardrailMetrics,
      }).map(snapshotOf),
    };
  }

  async #drain(limitMs: number): Promise<void> {
    await this.#started?.server.drain(limitMs);
    const settled = this.#serving?.engine.gateway.settled();
    await Promise.race([settled, delay(SETTLING_MS, undefined, { ref: false })]);
    await this.#closers.closeAll();
  }

  #requireStarted(): Started {
    if (this.#started === undefined) throw new Error('the worker has not been started');
    return this.#started;
  }
}

function secretKeys(keys: readonly Uint8Array[]): SecretKeys {
  const [first, ...others] = keys.map((bytes) => encryptionKeyOf(Buffer.from(bytes)));
  if (first === undefined) throw new Error('there is no encryption key');
  return [first, ...others];
}
