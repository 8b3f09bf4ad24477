import { DEFAULT_LOG_ROWS } from '../../contract/generations/generation-log.ts';
import type {
  RunningGenerationObject,
  RunningGenerationsQuery,
  RunningGenerationsReply,
} from '../../contract/generations/running-generation.ts';
import { traceIdOf, traceIdOfGeneration } from '../../ir/trace.ts';
import { usdOf } from '../../kit/money.ts';
import { appHostOf } from '../../kit/net/app-host.ts';
import type { GenerationRow } from '../../ports/generations/generation-row.ts';
import type { Ledger, RunningGeneration } from '../../ports/money/ledger.ts';
import type { LogViewer } from './log-filter.ts';
import { type LogNameSources, LogNames } from './log-names.ts';

export interface RunningGenerationsDependencies extends LogNameSources {
  readonly ledger: Pick<Ledger, 'runningOf'>;
}

/** A row before its names are looked up. */
type UnnamedRow = Omit<RunningGenerationObject, 'workspace_name' | 'key_name'>;

/** Lists generations that have begun and not ended. The ledger has them in memory: nothing is written or scanned. */
export class RunningGenerations {
  readonly #dependencies: RunningGenerationsDependencies;

  constructor(dependencies: RunningGenerationsDependencies) {
    this.#dependencies = dependencies;
  }

  /** The newest rows that match. */
  async list(viewer: LogViewer, wanted: RunningGenerationsQuery): Promise<RunningGenerationsReply> {
    const { ledger } = this.#dependencies;
    const found = (await ledger.runningOf(viewer.accountId))
      .map(rowOf)
      .filter((row) => viewer.keyHash === null || row.key_hash === viewer.keyHash)
      .filter((row) => matches(row, wanted))
      .sort(newestFirst);
    const rows = found.slice(0, wanted.limit ?? DEFAULT_LOG_ROWS);
    const names = new LogNames(this.#dependencies, viewer.accountId);
    await names.learn(rows.map((row) => ({ keyHash: row.key_hash, workspaceId: row.workspace_id })));
    return {
      data: rows.map((row) => ({
        ...row,
        workspace_name: names.workspace(row.workspace_id),
        key_name: names.key(row.key_hash),
      })),
      total_count: found.length,
    };
  }
}

function rowOf({ generationId, scopes, reserved, spent, row: known }: RunningGeneration): UnnamedRow {
  // A row that was accepted lacks members until the generation is settled.
  const row = known as Partial<GenerationRow>;
  return {
    id: generationId,
    created_at: row.created_at ?? '',
    model: row.model ?? '',
    provider_name: row.provider_name ?? null,
    workspace_id: scopes.workspace,
    key_hash: scopes.key,
    app: appHostOf(row.http_referer ?? null, row.app_title ?? null),
    request_format: row.format ?? null,
    streamed: row.streamed ?? false,
    tokens_prompt: row.tokens_prompt ?? 0,
    tokens_completion: row.tokens_completion ?? 0,
    cost: usdOf(spent.creditNanos),
    reserved: usdOf(reserved.creditNanos),
    tool_calls: row.tool_calls?.length ?? 0,
    session_id: row.session_id ?? null,
    // The generation's own id stands for it if the caller named none.
    request_id: row.request_id === generationId ? null : (row.request_id ?? null),
    external_user: row.external_user ?? null,
    trace_id: traceIdOfGeneration(generationId, known),
  };
}

function matches(row: UnnamedRow, wanted: RunningGenerationsQuery): boolean {
  return (
    isAmong(row.model, wanted.model) &&
    isAmong(row.provider_name, wanted.provider) &&
    isAmong(
      row.key_hash,
      wanted.key?.map((hash) => hash.toLowerCase()),
    ) &&
    isAmong(
      row.workspace_id,
      wanted.workspace?.map((id) => id.toLowerCase()),
    ) &&
    isAmong(row.app, wanted.app) &&
    isAmong(row.session_id, wanted.session_id) &&
    isAmong(row.external_user, wanted.external_user) &&
    isAmong(row.request_format, wanted.request_format) &&
    (wanted.streamed === undefined || wanted.streamed === row.streamed) &&
    isAmong(row.trace_id, wanted.trace_id?.map(traceIdOf)) &&
    (wanted.search === undefined || isFound(row, wanted.search))
  );
}

function isAmong(value: string | null, wanted: readonly string[] | undefined): boolean {
  return wanted === undefined || wanted.length === 0 || (value !== null && wanted.includes(value));
}

function isFound(row: UnnamedRow, search: string): boolean {
  const { id, request_id, session_id, external_user, trace_id } = row;
  return (
    id.startsWith(search) ||
    trace_id === traceIdOf(search) ||
    [request_id, session_id, external_user].some((each) => each?.includes(search))
  );
}

function newestFirst(one: UnnamedRow, other: UnnamedRow): number {
  if (one.created_at !== other.created_at) return one.created_at < other.created_at ? 1 : -1;
  return one.id < other.id ? 1 : -1;
}
