import { createHash } from 'node:crypto';
import type { TraceHeaders } from '../../ir/trace.ts';
import { ExpiringMap } from '../../kit/collections/expiring-map.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { numberAt, objectsAt, stringAt } from '../../kit/json/members.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { McpMemory, SeenTools } from '../../ports/upstreams/mcp-memory.ts';
import { CallResult } from './call-result.ts';
import { McpProblem } from './mcp-problem.ts';
import { identityOf, type McpLimits, type RemoteServer, secretRemover } from './remote-server.ts';
import { type RemoteTool, readTool } from './remote-tool.ts';
import { McpSession, type SessionDependencies, unlessAborted } from './session.ts';

export interface McpClientDependencies extends SessionDependencies {
  readonly clock: Clock;
  /** Where tools are remembered, to see changes. */
  readonly memory: Pick<McpMemory, 'seenTools' | 'noteSeenTools'>;
  /** Called if the memory fails: the list is used without a comparison. */
  readonly onForgetting: (error: unknown) => void;
  /** Called once for each change of a tool that was listed before. */
  readonly onChangedTools: (change: ChangedTools) => void;
}

export interface RemoteCall {
  readonly name: string;
  readonly arguments: JsonObject;
  readonly inputSchema: JsonObject;
  /** Called with the parameters of each notification of progress; absent = the server is not asked for any. */
  readonly onProgress?: ((progress: JsonObject) => void) | undefined;
  readonly trace?: TraceHeaders | undefined;
}

/** For whom a server is called. */
export interface McpOwner {
  readonly accountId: string;
  /** Sessions are kept for each key, because servers keep state in them. */
  readonly keyHash: string;
}

/** Tools whose description, schema or claim to read only differs from an earlier list. */
export interface ChangedTools {
  readonly label: string;
  readonly url: string;
  readonly names: readonly string[];
}

export interface ToolList {
  readonly tools: readonly RemoteTool[];
  /** Entries that no model can be offered: without a name, too large, or with arguments that are no object. */
  readonly unusable: number;
  /** Names of tools that are left out because their server runs them only as tasks. */
  readonly taskTools: readonly string[];
  /** Names of tools that differ from how the server described them before, for an hour after the change. */
  readonly changed: readonly string[];
}

const MAX_SESSIONS = 1000;
const SESSION_IDLE_MS = 300_000;
/** Idle sessions are looked for this often, so that they are closed at their servers although nothing uses them. */
const SESSION_SWEEP_MS = 30_000;

const MAX_LISTS = 500;
/** Characters of all lists that are kept, and of one list: beyond it tools are left out. */
const MAX_KEPT_CHARACTERS = 67_108_864;
const MAX_LIST_CHARACTERS = 2_097_152;
const DEFAULT_LIST_MS = 300_000;
const MAX_LIST_MS = 3_600_000;

/** A configured server that gave no list is not asked again for this time. */
const FAILURE_MS = 30_000;

const MAX_PAGES = 50;
const MAX_TOOLS = 512;

/** Tools of a server that are remembered, to see changes. */
const MAX_REMEMBERED_TOOLS = 2 * MAX_TOOLS;
const CHANGE_SHOWN_MS = 3_600_000;

/** Tools that have not changed are stored again after this time: they were seen lately. */
const SEEN_AGAIN_MS = 86_400_000;

/** The tools of remote servers over streamable HTTP: lists them, cached, and calls them. */
export class McpClient {
  readonly #dependencies: McpClientDependencies;
  readonly #sessions: ExpiringMap<string, McpSession>;
  readonly #lists: ExpiringMap<string, Promise<ToolList>>;
  readonly #sweeping: NodeJS.Timeout;

  constructor(dependencies: McpClientDependencies) {
    this.#dependencies = dependencies;
    const { clock } = dependencies;
    this.#sessions = new ExpiringMap(MAX_SESSIONS, {
      clock,
      lifetimeMs: SESSION_IDLE_MS,
      isProlongedByUse: true,
      onRemoved: (session) => session.close(),
    });
    this.#lists = new ExpiringMap(MAX_LISTS, {
      clock,
      lifetimeMs: DEFAULT_LIST_MS,
      maxSize: () => MAX_KEPT_CHARACTERS,
    });
    this.#sweeping = setInterval(() => this.#sessions.sweep(), SESSION_SWEEP_MS).unref();
  }

  /**
   * The tools of a server, from the cache if the list is fresh. Rejects with an McpProblem, which may be that of a
   * moment ago, or the signal's reason.
   */
  tools(server: RemoteServer, owner: McpOwner, limits: McpLimits, signal: AbortSignal): Promise<ToolList> {
    // Of each account: changes are flagged against what the account saw.
    const identity = `${identityOf(server)} ${owner.accountId}`;
    const known = this.#lists.get(identity);
    if (known !== undefined) return unlessAborted(known, signal);
    const reading = this.#read(server, owner, limits, identity);
    // Its size is known once it is read; until then it counts as 1.
    this.#lists.set(identity, reading);
    reading.catch((problem) => {
      if (this.#lists.peek(identity) !== reading) return;
      if (isRemembered(problem, server)) this.#lists.set(identity, reading, FAILURE_MS);
      else this.#lists.delete(identity);
    });
    return unlessAborted(reading, signal);
  }

  /** Calls a tool. Rejects with an McpProblem or the signal's reason. */
  async call(
    server: RemoteServer,
    owner: McpOwner,
    { name, arguments: given, inputSchema, onProgress, trace }: RemoteCall,
    limits: McpLimits,
    signal: AbortSignal,
  ): Promise<CallResult> {
    const session = this.#sessionOf(server, owner, identityOf(server));
    const { totalMs, readBytes: maxBytes, resultCharacters } = limits;
    const params = { name, arguments: given };
    const request = { method: 'tools/call', params, inputSchema, onProgress, trace };
    const result = await session.request(request, { totalMs, maxBytes }, signal);
    return new CallResult(result, resultCharacters, secretRemover(server));
  }

  close(): void {
    clearInterval(this.#sweeping);
    this.#sessions.clear();
    this.#lists.clear();
  }

  #sessionOf(server: RemoteServer, owner: McpOwner, identity: string): McpSession {
    const key = `${identity} ${owner.keyHash}`;
    const open = this.#sessions.get(key);
    if (open !== undefined) return open;
    const session = new McpSession(server, this.#dependencies);
    this.#sessions.set(key, session);
    return session;
  }

  async #read(server: RemoteServer, owner: McpOwner, limits: McpLimits, identity: string): Promise<ToolList> {
    const deadline = performance.now() + limits.totalMs;
    const session = this.#sessionOf(server, owner, identityOf(server));
    const withoutSecrets = secretRemover(server);
    const tools = new Map<string, RemoteTool>();
    const taskTools: string[] = [];
    let unusable = 0;
    let size = 1;
    let ttlMs = DEFAULT_LIST_MS;
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const totalMs = deadline - performance.now();
      if (totalMs <= 0) throw new McpProblem('timeout', 'no complete list of tools within the time limit');
      const params = cursor === undefined ? {} : { cursor };
      const pageLimits = { totalMs, maxBytes: limits.readBytes };
      const result = await session.request({ method: 'tools/list', params }, pageLimits, NEVER);
      for (const entry of objectsAt(result, 'tools')) {
        const hasRoom = tools.size < MAX_TOOLS && size < MAX_LIST_CHARACTERS;
        const tool = hasRoom ? readTool(entry, withoutSecrets) : undefined;
        if (tool === undefined || tools.has(tool.name) || size + tool.characters > MAX_LIST_CHARACTERS) {
          unusable += 1;
          continue;
        }
        size += tool.characters;
        if (tool.isTask) taskTools.push(tool.name);
        else tools.set(tool.name, tool);
      }
      if (page === 0) ttlMs = Math.min(MAX_LIST_MS, Math.max(0, numberAt(result, 'ttlMs') ?? ttlMs));
      const next = stringAt(result, 'nextCursor');
      if (next === undefined || next === cursor || size >= MAX_LIST_CHARACTERS) break;
      cursor = next;
    }
    const list = [...tools.values()];
    this.#keepFor(identity, ttlMs, size);
    return { tools: list, unusable, taskTools, changed: await this.#changesOf(server, owner, list) };
  }

  /** Lets a list expire when its server says; a list that must not be kept expires at once. */
  #keepFor(identity: string, ttlMs: number, size: number): void {
    const reading = this.#lists.peek(identity);
    if (reading === undefined) return;
    if (ttlMs === 0) this.#lists.delete(identity);
    else this.#lists.set(identity, reading, ttlMs, size);
  }

  /** Compares a list with the last one that the account saw at the same address. */
  async #changesOf(
    { label, url }: RemoteServer,
    { accountId }: McpOwner,
    tools: readonly RemoteTool[],
  ): Promise<string[]> {
    const { clock, memory, onChangedTools, onForgetting } = this.#dependencies;
    const server = createHash('sha256').update(url).digest('base64url');
    try {
      const { seen, fresh, isNew } = compared(await memory.seenTools(accountId, server), tools, clock.now());
      if (isNew) await memory.noteSeenTools(accountId, server, seen);
      if (fresh.length > 0) onChangedTools({ label, url, names: fresh });
      return tools.flatMap(({ name }) => (Object.hasOwn(seen.changedAtMs, name) ? [name] : []));
    } catch (error) {
      onForgetting(error);
      return [];
    }
  }
}

/**
 * True if a server is not asked again for a while, so that requests need not wait for it one by one. A caller who has
 * just mended a server of their own is not held up.
 */
function isRemembered(problem: unknown, { isConfigured }: RemoteServer): boolean {
  return isConfigured && problem instanceof McpProblem && problem.reason !== 'unauthorized';
}

/** A list beside what was remembered. */
interface Comparison {
  readonly seen: SeenTools;
  /** Names of tools that differ from how they were remembered. */
  readonly fresh: readonly string[];
  /** True if `seen` has to be stored. */
  readonly isNew: boolean;
}

function compared(before: SeenTools | undefined, tools: readonly RemoteTool[], nowMs: number): Comparison {
  const digests = new Map(Object.entries(before?.digests ?? {}));
  const changedAt = new Map(
    Object.entries(before?.changedAtMs ?? {}).filter(([, atMs]) => nowMs - atMs < CHANGE_SHOWN_MS),
  );
  const fresh: string[] = [];
  let isNew = before === undefined || nowMs - before.seenAtMs > SEEN_AGAIN_MS;
  for (const { name, digest } of tools) {
    const last = digests.get(name);
    if (last === digest) continue;
    isNew = true;
    const isRemembered = last !== undefined || digests.size < MAX_REMEMBERED_TOOLS;
    if (isRemembered) digests.set(name, digest);
    // A tool that there is no room to remember counts as changed: a server cannot have others forgotten by new names.
    if (isRemembered && last === undefined) continue;
    fresh.push(name);
    changedAt.set(name, nowMs);
  }
  const seen = {
    digests: Object.fromEntries(digests),
    changedAtMs: Object.fromEntries(changedAt),
    seenAtMs: nowMs,
  };
  return { seen, fresh, isNew };
}

const NEVER = new AbortController().signal;
