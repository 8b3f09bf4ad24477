import type { AddedProvider } from '../catalog/model-entries.ts';
import type { LoadedConfiguration } from '../config/load.ts';
import type { TailedGeneration } from '../gateway/observers/generation-tail.ts';
import type { LastFailure } from '../gateway/observers/last-failures.ts';
import type { SharedItemStore } from '../gateway/request/shared-output-items.ts';
import type { LogLevel } from '../kit/log/log-level.ts';
import type { MetricSnapshot } from '../kit/metrics/metric-snapshot.ts';
import type { TokenName } from '../manage/byok/replace-token.ts';
import type { StoredContent } from '../ports/content/content.ts';
import type { FileStore, StoredFile } from '../ports/content/files.ts';
import type { CachedAnswer, ResponseCache } from '../ports/content/response-cache.ts';
import type { RefusedRequests } from '../ports/generations/refused-requests.ts';
import type { Change } from '../ports/shared/changes.ts';
import type { Limiter } from '../ports/shared/limiter.ts';
import type { FoundItems } from '../ports/shared/output-items.ts';
import type { RoutingMemory } from '../ports/shared/routing-memory.ts';
import type { ByokStore } from '../ports/tenancy/byok.ts';
import type { Caller } from '../ports/tenancy/caller.ts';
import type { GuardrailStore } from '../ports/tenancy/guardrails.ts';
import type { SessionStore } from '../ports/tenancy/sessions.ts';
import type { Tenancy } from '../ports/tenancy/tenancy.ts';
import type { CountedCalls } from '../ports/upstreams/call-counts.ts';
import type { McpMemory } from '../ports/upstreams/mcp-memory.ts';
import type { CalledMethods } from '../workers/ports/port-calls.ts';
import type { LedgerCalls } from '../workers/ports/remote-ledger.ts';

/** The ports of the owner that workers use. */
export interface OwnerPorts {
  readonly ledger: LedgerCalls;
  readonly tenancy: Tenancy;
  readonly guardrails: GuardrailStore;
  readonly byok: ByokStore;
  readonly sessions: SessionStore;
  readonly files: FileStore;
  readonly mcpMemory: McpMemory;
  readonly refusedRequests: RefusedRequests;
  readonly limiter: Limiter;
  readonly routingMemory: RoutingMemory;
  readonly cache: ResponseCache;
  /** Output items in a store that gateways share. */
  readonly sharedItems: SharedItemStore;
}

/** The methods of them that workers call. */
export const OWNER_METHODS = {
  ledger: ['reserve', 'topUp', 'checkpoint', 'settle', 'void'],
  tenancy: ['findKey', 'findWorkspaceById', 'listBudgets'],
  guardrails: ['listAll', 'assignmentsOf'],
  byok: ['listAll'],
  sessions: ['find', 'noteSeen'],
  files: ['find'],
  mcpMemory: ['claimApproval', 'seenTools', 'noteSeenTools'],
  refusedRequests: ['add', 'ownerOfDeleted'],
  limiter: ['take', 'add'],
  routingMemory: ['findPin', 'setPin', 'exchange', 'takeProbe', 'endProbe'],
  cache: ['find', 'forget'],
  sharedItems: ['keep', 'find'],
} as const satisfies { readonly [Port in keyof OwnerPorts]: readonly (keyof OwnerPorts[Port])[] };

/** The ports as workers see them. */
export type CalledPorts = CalledMethods<OwnerPorts, typeof OWNER_METHODS>;

/** What else workers ask of the owner, or tell it. */
export type OwnerCalls = {
  /** Stores an answer in the response cache. */
  keepCached(key: string, cached: CachedAnswer): void;
  /** Stores prompt and answer of a generation. */
  keepContent(content: StoredContent): void;
  /** Keeps prompt and answer for those who read them after the answer. */
  spoolContent(content: StoredContent): void;
  /** Stores a refreshed token for an MCP server. */
  replaceToken(token: TokenName, secret: string): Promise<void>;
  listFiles(
    caller: Caller,
    page: { readonly limit: number },
  ): Promise<{ readonly files: readonly StoredFile[] }>;
  /** Stores a file that a tool has made. */
  makeFile(caller: Caller, filename: string, content: Uint8Array): Promise<StoredFile>;
  /** Output items that other workers keep. */
  findItemsElsewhere(keyHash: string, ids: ReadonlySet<string>): Promise<FoundItems>;
  /** A generation has ended; told only while `watchGenerations` asks for it. */
  generationEnded(generation: TailedGeneration): void;
  /** The last failure of a provider has changed. */
  providerFailed(provider: string, failure: LastFailure): void;
  /** The calls of endpoints since the last time, for their uptime. */
  callsCounted(counted: readonly CountedCalls[]): void;
  catchUpWithChanges(): Promise<void>;
};

/** What a worker needs before everything else. */
export interface WorkerStart {
  /** Its number: 1, 2, 3 and so on. */
  readonly worker: number;
  readonly loaded: LoadedConfiguration;
  /** The providers that the operator has added. */
  readonly providers: readonly AddedProvider[];
  readonly log: { readonly level: LogLevel; readonly readable: boolean; readonly colours: boolean };
}

/** What a worker needs to serve, once the owner has opened the installation. */
export interface WorkerState {
  readonly dataDir: string;
  readonly hashKey: Uint8Array;
  readonly encryptionKeys: readonly Uint8Array[];
  readonly firstAccountId: string;
  readonly hasSharedDatabase: boolean;
  readonly watchesGenerations: boolean;
  readonly gatewayId: string;
  /** Output items are in a store that gateways share; false = each worker keeps its own. */
  readonly sharesItems: boolean;
}

/** Figures of a worker. */
export interface WorkerFigures {
  readonly requests: number;
  readonly generations: number;
  readonly loopDelaySeconds: number;
  readonly metrics: readonly MetricSnapshot[];
}

/** What the owner asks of a worker, or tells it. */
export type WorkerCalls = {
  start(start: WorkerStart): Promise<void>;
  /** Begins to accept. Until it serves, only probes are answered. */
  listen(host: string, port: number): Promise<{ readonly host: string; readonly port: number }>;
  serve(state: WorkerState): Promise<void>;
  /** Also shows that the worker is not stuck. */
  ping(): WorkerFigures;
  /** The owner has told of all changes up to so many milliseconds ago. */
  changesSeen(ageMs: number): void;
  reload(loaded: LoadedConfiguration): Promise<void>;
  /** Other providers of the operator take the place of those before. */
  useProviders(providers: readonly AddedProvider[]): Promise<void>;
  /** The models of `catalog refresh` were changed. */
  knowledgeChanged(): Promise<void>;
  change(change: Change): void;
  /** The keys of stored credentials; the first encrypts. */
  useEncryptionKeys(keys: readonly Uint8Array[]): void;
  watchGenerations(isWatched: boolean): void;
  findItems(keyHash: string, ids: ReadonlySet<string>): Promise<FoundItems>;
  /** As `HttpServer.leave`. */
  leave(graceMs: number): Promise<void>;
  /** Stops accepting, and resolves when everything in flight has ended and is settled. */
  drain(limitMs: number): Promise<void>;
};
