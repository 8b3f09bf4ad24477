import { createGateway } from '../gateway/generate.ts';
import { serviceLog } from '../gateway/leg/service-log.ts';
import { keepContent } from '../gateway/observers/generation-content.ts';
import { generationLog } from '../gateway/observers/generation-log.ts';
import { GenerationMetrics } from '../gateway/observers/generation-metrics.ts';
import { GenerationTail } from '../gateway/observers/generation-tail.ts';
import { LastFailures } from '../gateway/observers/last-failures.ts';
import { RefusalLog } from '../gateway/observers/refusal-log.ts';
import { ServiceChanges } from '../gateway/observers/service-changes.ts';
import { keepItemsSwept, MemoryOutputItems } from '../gateway/request/memory-output-items.ts';
import { NeighbouringItems } from '../gateway/request/neighbouring-items.ts';
import { settingsSeenBy } from '../gateway/request/settings-seen-by.ts';
import { SharedOutputItems } from '../gateway/request/shared-output-items.ts';
import type { StoredFiles } from '../gateway/request/stored-files.ts';
import { tokenCounts } from '../http/access/rate-limits.ts';
import { randomIds } from '../kit/ids.ts';
import type { Log } from '../kit/log/log.ts';
import { programVersion } from '../kit/program-version.ts';
import { type Clock, systemClock } from '../kit/time/clock.ts';
import { ApprovedCalls } from '../mcp/approved-calls.ts';
import { McpClient } from '../mcp/client/mcp-client.ts';
import { mcpLimitsOf } from '../mcp/configured-servers.ts';
import { GrantedServers } from '../mcp/granted-servers.ts';
import type { McpOffers } from '../mcp/server/offered-tool.ts';
import { ownOffers } from '../mcp/server/own-offers.ts';
import { RemoteOffers } from '../mcp/server/remote-offers.ts';
import { TokenRefresher } from '../mcp/token-refresher.ts';
import type { createEgress } from '../net/egress/egress.ts';
import type { ContentStore } from '../ports/content/content.ts';
import type { ResponseCache } from '../ports/content/response-cache.ts';
import type { SpooledContents } from '../ports/following/spooled-contents.ts';
import type { RefusedRequests } from '../ports/generations/refused-requests.ts';
import type { GenerationLedger } from '../ports/money/ledger.ts';
import type { Limiter } from '../ports/shared/limiter.ts';
import type { OutputItems } from '../ports/shared/output-items.ts';
import type { ByokCredentials, McpTokens } from '../ports/tenancy/byok-credentials.ts';
import type { Caller } from '../ports/tenancy/caller.ts';
import type { McpMemory } from '../ports/upstreams/mcp-memory.ts';
import { Pins } from '../routing/conversation/pins.ts';
import type { CallTallies } from '../routing/health/call-tallies.ts';
import { Health } from '../routing/health/health.ts';
import { HealthNews } from '../routing/health/health-news.ts';
import type { ReportService } from '../routing/health/service-watch.ts';
import { NewsExchanger } from '../routing/news/news-exchanger.ts';
import { probeRights, sharedPins } from '../routing/news/shared-routing.ts';
import { Traffic } from '../routing/traffic.ts';
import { prepareBody } from '../settings/derive-settings.ts';
import type { RunningSettings } from '../settings/running-settings.ts';
import { GuardrailMetrics } from '../stages/guardrails/guardrail-metrics.ts';
import type { Stage } from '../stages/stage.ts';
import { type StageDependencies, stageTable } from '../stages/table.ts';
import type { SharedStores } from '../store/shared-memory/shared-stores.ts';
import type { StoreGate } from '../store/shared-memory/store-gate.ts';
import { createTokenizer } from '../tokens/tokenizer.ts';
import type { WorkspaceFiles } from '../tools/server-tool.ts';
import { openUpstreams } from '../upstream/open-upstreams.ts';
import type { Closers } from './closers.ts';

/** The parts of an installation that generations use. */
export interface EngineInstallation {
  readonly ledger: GenerationLedger;
  readonly files: WorkspaceFiles;
  readonly storedFiles: StoredFiles;
  readonly byokCredentials: ByokCredentials & McpTokens;
  readonly mcpMemory: McpMemory;
  readonly refusedRequests: Pick<RefusedRequests, 'add' | 'ownerOfDeleted'>;
  /** Keys the hashes of end-user ids. */
  readonly hashKey: Buffer;
}

/** What processes share of routing and output items. */
export interface EngineMemory {
  readonly stores: Pick<SharedStores, 'routing' | 'items'>;
  /** Everything that asks the stores asks through it. */
  readonly gate: Pick<StoreGate, 'ask' | 'onFound'>;
  readonly gatewayId: string;
  /** Of this serving process. */
  readonly processId: string;
}

/** Dependencies and settings of the engine. */
export interface EngineOptions {
  readonly vendor: string;
  readonly settings: RunningSettings;
  readonly installation: EngineInstallation;
  readonly cache: ResponseCache;
  /** Stores prompts and answers. */
  readonly contents: Pick<ContentStore, 'put'>;
  /** Takes prompts and answers for those who read them after the answer. */
  readonly spooledContents: Pick<SpooledContents, 'put'>;
  /** Finds output items that other processes keep; absent = there are none. */
  readonly findItemsElsewhere?: OutputItems['find'];
  readonly egress: ReturnType<typeof createEgress>;
  readonly judgesFor: StageDependencies['judgesFor'];
  /** Counts the tokens of settled generations. Must not reject. */
  readonly limiter: Pick<Limiter, 'add'>;
  /** What gateways share; undefined = there is only this one. */
  readonly shared: EngineMemory | undefined;
  /** Counts the calls of endpoints for their uptime. */
  readonly callTallies: CallTallies;
  /** The operator's account; undefined until it is known. */
  readonly firstAccountId: () => string | undefined;
  readonly log: Log;
  /** Clock of stored output items; the system's by default. */
  readonly itemClock?: Pick<Clock, 'monotonic'> | undefined;
  /** Clock of the health of endpoints; the system's by default. */
  readonly healthClock?: Clock | undefined;
  /** Additional stages, inside those of the table. */
  readonly stages?: readonly Stage[] | undefined;
}

/** The gateway, and what it knows of generations and endpoints. */
export type Engine = ReturnType<typeof openEngine>;

/** Opens all that runs generations. */
export function openEngine(options: EngineOptions, closers: Closers) {
  const { settings, installation, log } = options;
  const upstreams = closers.add(
    'connections to providers',
    openUpstreams({
      vendor: options.vendor,
      clock: systemClock,
      ids: randomIds,
      egress: () => settings.latest.egress,
      largeAnswersBytes: () => settings.latest.largeAnswersBytes,
    }),
  );
  const tokenizer = closers.add('the tokenizer', createTokenizer());
  const logService = serviceLog(log);
  const serviceChanges = new ServiceChanges(systemClock);
  const { health, pins, news } = openRoutingMemory(options, closers, (change) => {
    logService(change);
    serviceChanges.note(change);
  });
  const { items, ownItems } = openItems(options, closers);
  const mcpClient = closers.add('sessions with MCP servers', openMcpClient(options));
  const mcpServers = new GrantedServers({
    client: mcpClient,
    approvedCalls: new ApprovedCalls({ memory: installation.mcpMemory, clock: systemClock }),
    tokens: new TokenRefresher({
      tokens: installation.byokCredentials,
      egress: options.egress,
      clock: systemClock,
      refreshMs: () => settings.current.config.tools.limits.fetch_ms,
    }),
    servers: () => settings.current.mcpServers,
    limits: () => mcpLimitsOf(settings.current.config.tools.limits),
    firstAccountId: options.firstAccountId,
  });
  const guardrailMetrics = new GuardrailMetrics();
  const { egress, judgesFor, cache } = options;
  const { files } = installation;
  const { onSettled, onUnrecorded, ...observers } = openObservers(options);
  const settingsFor = (caller: Caller) => settingsSeenBy(caller, settings.current.gateway);
  const refusals = closers.add(
    'rows of refused requests',
    new RefusalLog({
      store: installation.refusedRequests,
      clock: systemClock,
      counts: observers.generationMetrics,
    }),
  );
  const gateway = createGateway({
    settings: settingsFor,
    stages: stageTable({ cache, egress, files, judgesFor, guardrailMetrics, mcpServers }, options.stages),
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
      pins,
      traffic: new Traffic({ clock: systemClock }),
    },
    random: Math.random,
    userHashKey: installation.hashKey,
    warn: (message, fields) => log.warn(message, fields),
    ledger: installation.ledger,
    onSettled,
    onUnrecorded,
    refusals,
    clock: systemClock,
  });
  const ownTools = {
    egress,
    files,
    log,
    settings: settingsFor,
    now: () => systemClock.now(),
  };
  const remoteTools = new RemoteOffers(mcpServers, log);
  const mcpOffers: McpOffers = {
    serverInfo: { name: options.vendor, version: programVersion() },
    of: async (caller, signal) => [...ownOffers(ownTools, caller), ...(await remoteTools.of(caller, signal))],
    named: async (name, caller, signal) =>
      ownOffers(ownTools, caller).find((own) => own.name === name) ?? remoteTools.named(name, caller, signal),
  };
  return {
    gateway,
    refusals,
    health,
    news,
    serviceChanges,
    ownItems,
    guardrailMetrics,
    mcpOffers,
    ...observers,
  };
}

/** Health and pins of this process, and the exchange of news about them with others. */
function openRoutingMemory(
  { settings, shared, healthClock, callTallies }: EngineOptions,
  closers: Closers,
  report: ReportService,
): { readonly health: Health; readonly pins: Pins; readonly news: NewsExchanger | undefined } {
  const clock = healthClock ?? systemClock;
  const cooldown = () => settings.latest.cooldown;
  const idleMs = () => settings.latest.config.routing.sticky_idle_ms;
  const own = { clock, random: Math.random, settings: cooldown, report, callTallies };
  if (shared === undefined) {
    return { health: new Health(own), pins: new Pins({ clock: systemClock, idleMs }), news: undefined };
  }
  const { stores, gate, gatewayId, processId } = shared;
  const ask = <T>(work: () => Promise<T>) => gate.ask(work);
  const healthNews = new HealthNews(clock);
  const health = new Health({
    ...own,
    news: healthNews,
    probeRights: probeRights(stores.routing, ask, processId),
  });
  const ofOthers = sharedPins(stores.routing, ask, (key) => exchanger.pinMoved(key));
  const pins = new Pins({ clock: systemClock, idleMs, shared: ofOthers });
  const exchanger = closers.add(
    'the exchange of news about endpoints',
    new NewsExchanger({
      memory: stores.routing,
      ask,
      news: healthNews,
      health,
      pins,
      gatewayId,
      processId,
      clock: systemClock,
    }),
  );
  gate.onFound(() => exchanger.announce());
  return { health, pins, news: exchanger };
}

/** Output items that requests can refer to: of this process, and of others if they are shared. */
function openItems(
  { settings, shared, itemClock, findItemsElsewhere }: EngineOptions,
  closers: Closers,
): { readonly items: OutputItems; readonly ownItems: OutputItems } {
  const maxBytes = () => settings.latest.outputItemsBytes;
  const ownItems = new MemoryOutputItems({ clock: itemClock ?? systemClock, maxBytes });
  closers.add('the removal of old output items', keepItemsSwept(ownItems));
  const store = shared?.stores.items;
  if (shared !== undefined && store !== undefined) {
    const { gate } = shared;
    const ask = <T>(work: () => Promise<T>) => gate.ask(work);
    const isKept = () => maxBytes() > 0;
    return { ownItems, items: new SharedOutputItems({ own: ownItems, shared: store, ask, isKept }) };
  }
  const items =
    findItemsElsewhere === undefined ? ownItems : new NeighbouringItems(ownItems, findItemsElsewhere);
  return { ownItems, items };
}

/** The client of MCP servers. A tool whose description changes may be an attack: it is logged. */
function openMcpClient({ vendor, egress, installation, log }: EngineOptions): McpClient {
  return new McpClient({
    egress,
    clientInfo: { name: vendor, version: programVersion() },
    clock: systemClock,
    memory: installation.mcpMemory,
    onForgetting: (error) =>
      log.warn('the tools of an MCP server could not be compared with those before', {
        error: String(error),
      }),
    onChangedTools: ({ label, url, names }) =>
      log.warn('an MCP server has changed the description of tools', {
        server: label,
        host: new URL(url).host,
        tools: names.slice(0, MAX_LOGGED_TOOLS),
      }),
  });
}

const MAX_LOGGED_TOOLS = 20;

/** Observers of settled generations: everything that is noted besides the record. */
function openObservers({
  settings,
  limiter,
  log,
  contents,
  spooledContents,
}: Pick<EngineOptions, 'settings' | 'limiter' | 'log' | 'contents' | 'spooledContents'>): {
  readonly generationMetrics: GenerationMetrics;
  readonly tail: GenerationTail;
  readonly failures: LastFailures;
} & Pick<Parameters<typeof createGateway>[0], 'onSettled' | 'onUnrecorded'> {
  const logGeneration = generationLog(log, systemClock);
  const generationMetrics = new GenerationMetrics();
  const tail = new GenerationTail(systemClock);
  const failures = new LastFailures(systemClock);
  const keeping = { store: contents, spooled: spooledContents, random: Math.random };
  return {
    generationMetrics,
    tail,
    failures,
    onSettled: (generation, settlement, times) => {
      const { inputTokens, outputTokens } = settlement.usage;
      const { key } = generation.input.caller;
      void limiter.add(tokenCounts(key, inputTokens + outputTokens, settings.latest.http.rates));
      generationMetrics.note(generation, settlement, times);
      failures.note(generation);
      logGeneration(generation, settlement);
      tail.note(generation, settlement);
      keepContent(keeping, generation, settlement);
    },
    onUnrecorded: (generation, settlement) => {
      failures.note(generation);
      logGeneration(generation, settlement);
      tail.note(generation, settlement);
    },
  };
}
