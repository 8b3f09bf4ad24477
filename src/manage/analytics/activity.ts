import type { ActivityQuery, ActivityRow } from '../../contract/analytics/activity.ts';
import { isoTime } from '../../contract/values/iso-time.ts';
import { GatewayError, invalidRequest } from '../../ir/errors.ts';
import { forEachSliced, runInTurns, type Sliced } from '../../kit/loop/turns.ts';
import { usdOf } from '../../kit/money.ts';
import type { Clock } from '../../kit/time/clock.ts';
import { momentMs } from '../../kit/time/moment.ts';
import { boundsAt } from '../../kit/time/windows.ts';
import type { DimensionName, MetricName } from '../../ports/events/event-names.ts';
import type { EventFilter, EventRow, EventStore } from '../../ports/events/events.ts';
import type { KeyStore, WorkspaceStore } from '../../ports/tenancy/tenancy.ts';
import { requireWorkspaceId } from '../workspaces/require-workspace-id.ts';

export interface ActivityDependencies {
  readonly events: Pick<EventStore, 'query'>;
  readonly tenancy: Pick<KeyStore, 'findKey'> &
    Pick<WorkspaceStore, 'findWorkspaceById' | 'defaultWorkspaceOf'>;
  readonly clock: Pick<Clock, 'now'>;
}

const SHOWN_DAYS = 30;
const DAY_MS = 86_400_000;

/** Above this the request is refused: the caller must narrow it. */
const MAX_ROWS = 50_000;

const DIMENSIONS = ['model_id', 'model', 'endpoint', 'provider'] as const satisfies readonly DimensionName[];

const METRICS = [
  'credits_usage',
  'byok_usage',
  'request_count',
  'tokens_prompt',
  'tokens_completion',
  'reasoning_tokens',
] as const satisfies readonly MetricName[];

/** Usage of an account on the last 30 complete UTC days, by model and endpoint. */
export class Activity {
  readonly #dependencies: ActivityDependencies;

  constructor(dependencies: ActivityDependencies) {
    this.#dependencies = dependencies;
  }

  /** Latest day first. Throws 404 for an unknown workspace or key. */
  async list(accountId: string, wanted: ActivityQuery, signal: AbortSignal): Promise<ActivityRow[]> {
    const { events, tenancy, clock } = this.#dependencies;
    const range = rangeOf(wanted.date, clock.now());
    const keyHash = wanted.api_key_hash?.toLowerCase();
    const workspaceId =
      wanted.workspace_id && (await requireWorkspaceId(tenancy, accountId, wanted.workspace_id));
    const isByWorkspace = wanted.group_by === 'workspace';
    const { rows, isTruncated } = await events.query(
      {
        ...range,
        accountId,
        metrics: METRICS,
        dimensions: isByWorkspace ? [...DIMENSIONS, 'workspace'] : DIMENSIONS,
        granularity: 'day',
        filters: [
          ...equal('api_key_id', keyHash),
          ...equal('workspace', workspaceId),
          ...equal('user', wanted.user_id),
        ],
        order: null,
        limit: MAX_ROWS,
        groupLimit: null,
      },
      signal,
    );
    if (isTruncated) throw tooManyRows();
    // A deleted key with usage in this account is not an error.
    if (keyHash !== undefined && rows.length === 0 && !(await this.#hasKey(accountId, keyHash))) {
      throw new GatewayError('not-found', 'api_key_hash: there is no such key');
    }
    return runInTurns(activityRows(rows, isByWorkspace));
  }

  async #hasKey(accountId: string, hash: string): Promise<boolean> {
    return (await this.#dependencies.tenancy.findKey(hash))?.accountId === accountId;
  }
}

/** The requested day, or all 30. */
function rangeOf(date: string | undefined, nowMs: number) {
  const endMs = boundsAt('daily', nowMs).startMs;
  const startMs = endMs - SHOWN_DAYS * DAY_MS;
  if (date === undefined) return { startMs, endMs };
  const dayMs = momentMs(date);
  if (dayMs !== undefined && dayMs >= startMs && dayMs < endMs) {
    return { startMs: dayMs, endMs: dayMs + DAY_MS };
  }
  const bounds = `${dayOf(startMs)} to ${dayOf(endMs - DAY_MS)}`;
  throw invalidRequest([
    { path: 'date', message: `must be one of the last ${SHOWN_DAYS} UTC days that are over: ${bounds}` },
  ]);
}

function dayOf(ms: number): string {
  return isoTime(ms).slice(0, 10);
}

function equal(field: DimensionName, value: string | undefined): EventFilter[] {
  return value === undefined ? [] : [{ field, operator: 'eq', values: [value], includesUnset: false }];
}

function tooManyRows(): GatewayError {
  return invalidRequest([
    {
      path: 'date',
      message: `more than ${MAX_ROWS} rows match: ask for one date, workspace_id or api_key_hash at a time`,
    },
  ]);
}

function* activityRows(rows: readonly EventRow[], isByWorkspace: boolean): Sliced<ActivityRow[]> {
  const shown: ActivityRow[] = [];
  yield* forEachSliced(rows, (row) => shown.push(activityRow(row, isByWorkspace)));
  return shown;
}

function activityRow({ bucketMs, dimensions, metrics }: EventRow, isByWorkspace: boolean): ActivityRow {
  const [model, permaslug, endpoint, provider, workspaceId] = dimensions;
  const [credits, byok, ...counts] = metrics.map((value) => BigInt(value ?? 0));
  const [requests, prompt, completion, reasoning] = counts.map(Number);
  return {
    date: dayOf(bucketMs ?? 0),
    model: model ?? '',
    model_permaslug: permaslug ?? '',
    endpoint_id: endpoint ?? '',
    provider_name: provider ?? '',
    usage: usdOf(credits ?? 0n),
    byok_usage_inference: usdOf(byok ?? 0n),
    requests: requests ?? 0,
    prompt_tokens: prompt ?? 0,
    completion_tokens: completion ?? 0,
    reasoning_tokens: reasoning ?? 0,
    ...(isByWorkspace && { workspace_id: workspaceId ?? '' }),
  };
}
