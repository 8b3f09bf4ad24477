import type { RequestFormat } from '../../ir/items.ts';
import type { ToolCallRecord } from '../../ir/leg.ts';
import type { AttemptRecord, PipelineEntry, RoutingMetadata, TranslationEntry } from '../../ir/metadata.ts';
import { boundedJson } from '../../kit/json/bounded-json.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { GenerationRow } from '../../ports/generations/generation-row.ts';
import { type Candidate, isSameCandidate, type Rejection } from '../../routing/rules/candidate.ts';
import type { Charge } from '../admission/reservation.ts';
import { type CallRecord, Leg } from '../leg/leg.ts';
import type { NothingLeft, Plan } from '../plan/plan.ts';

const NO_CHARGES: readonly Charge[] = [];

const NO_TOOL_CALLS: readonly ToolCallRecord[] = [];

const NO_NOTES: readonly PipelineEntry[] = [];

/** Members of a generation's row that describe its request, whatever its outcome. */
export type RequestMembers = RowMembers & {
  /** Kind of request; absent = completions. */
  readonly api?: Exclude<GenerationRow['api_type'], 'completions'>;
  /** Absent in records of earlier releases. */
  readonly format?: RequestFormat;
} & Pick<GenerationRow, 'traceparent' | 'tracestate'>;

type RowMembers = Pick<
  GenerationRow,
  | 'created_at'
  | 'app_title'
  | 'app_categories'
  | 'origin'
  | 'http_referer'
  | 'user_agent'
  | 'external_user'
  | 'creator_user_id'
  | 'session_id'
  | 'request_id'
  | 'preset_id'
  | 'trace'
  | 'router'
  | 'num_media_prompt'
  | 'num_input_audio_prompt'
  | 'is_zdr'
>;

/** The course of one generation so far: its legs, and the entries of its stages. Read by settlement and metadata. */
export class AttemptLog {
  #legs: readonly Leg[];
  /** The leg that was planned for the caller's own request, or the first that answers it instead. */
  #firstLeg: Leg;
  /** Computed for the first of its rows. */
  requestMembers: RequestMembers | undefined;
  /** Entries of stages for the pipeline of the metadata; stages append to it. */
  readonly notes: readonly PipelineEntry[];
  /** Paid besides model calls. */
  readonly charges: readonly Charge[];
  readonly toolCalls: readonly ToolCallRecord[];

  constructor(
    plan: Plan,
    notes: readonly PipelineEntry[] = NO_NOTES,
    charges: readonly Charge[] = NO_CHARGES,
    toolCalls: readonly ToolCallRecord[] = NO_TOOL_CALLS,
  ) {
    this.#firstLeg = new Leg(plan);
    this.#legs = [this.#firstLeg];
    this.notes = notes;
    this.charges = charges;
    this.toolCalls = toolCalls;
  }

  /** In the order in which they began. */
  get legs(): readonly Leg[] {
    return this.#legs;
  }

  /** The first leg for the caller's own request; if other legs come before it, the plan of it so far. */
  get firstLeg(): Leg {
    return this.#firstLeg;
  }

  /** Adds a further leg. It replaces a first leg that was planned and never began. */
  add(leg: Leg): void {
    const planned = this.#firstLeg;
    const hasBegun = planned.lastCalled !== undefined || planned.calls.length > 0;
    const isReplaced = !hasBegun && this.#legs[0] === planned;
    const isListed = this.#legs.includes(planned);
    this.#legs = isReplaced ? [leg] : [...this.#legs, leg];
    // A leg of another kind does not answer the caller: the plan for that still holds.
    if (leg.kind === 'main' && (isReplaced || !isListed)) this.#firstLeg = leg;
  }

  get plan(): Plan {
    return this.firstLeg.plan;
  }

  /** The upstream calls of all legs whose outcome is known. */
  get calls(): readonly CallRecord[] {
    const [only] = this.#legs;
    return this.#legs.length === 1 && only !== undefined
      ? only.calls
      : this.#legs.flatMap(({ calls }) => calls);
  }

  /** Milliseconds until the first bytes of endpoints, summed. */
  get firstByteMs(): number {
    return this.calls.reduce((sum, { firstByteMs }) => sum + firstByteMs, 0);
  }

  /** Milliseconds spent waiting for endpoints. */
  get waitedMs(): number {
    return this.calls.reduce((sum, { latencyMs }) => sum + latencyMs, 0);
  }

  get attempts(): AttemptRecord[] {
    const [only] = this.#legs;
    return this.#legs.length === 1 && only !== undefined
      ? only.attempts
      : this.#legs.flatMap(({ attempts }) => attempts);
  }

  /** The leg whose answer the caller gets: the last main leg with a serving candidate. */
  get serving(): Leg {
    return (
      this.#legs.findLast(({ kind, selected }) => kind === 'main' && selected !== undefined) ?? this.firstLeg
    );
  }

  /** The serving candidate, once there is one. */
  get selected(): Candidate | undefined {
    return this.serving.selected;
  }

  get lastCalled(): Candidate | undefined {
    return this.#legs.findLast(({ lastCalled }) => lastCalled !== undefined)?.lastCalled;
  }

  get report(): readonly TranslationEntry[] {
    const [only] = this.#legs;
    return this.#legs.length === 1 && only !== undefined
      ? only.report
      : onceEach(this.#legs.flatMap(({ report }) => report));
  }
}

/** Entries without repetitions: every leg of a loop loses the same. */
function onceEach(entries: readonly TranslationEntry[]): readonly TranslationEntry[] {
  const keyOf = ({ field, action, detail }: TranslationEntry) => `${action} ${field} ${detail}`;
  return [...new Map(entries.map((entry) => [keyOf(entry), entry])).values()];
}

/** The routing metadata of a planned request. A failed one has selected no endpoint. */
export function routingMetadata(
  attemptLog: AttemptLog,
  region: string | null,
  outcome: 'served' | 'failed',
): RoutingMetadata {
  const { plan, attempts } = attemptLog;
  const { candidates, params } = plan;
  const pipeline = attemptLog.notes.length === 0 ? plan.pipeline : [...plan.pipeline, ...attemptLog.notes];
  const selected = outcome === 'served' ? attemptLog.selected : undefined;
  const available = candidates.map((candidate) => ({
    provider: candidate.endpoint.provider.name,
    model: candidate.model.id,
    selected: selected !== undefined && isSameCandidate(candidate, selected),
  }));
  const choice = selected === undefined ? '' : `, selected=${selected.endpoint.provider.name}`;
  const metadata: Mutable<RoutingMetadata> = {
    requested: plan.requested,
    strategy: plan.strategy,
    region,
    summary: `available=${available.length}${choice}`,
    attempt: attempts.length,
    is_byok: (selected ?? attemptLog.lastCalled)?.access.kind === 'byok',
    endpoints: endpointsOf(available, plan.rejected),
  };
  if (attempts.length > 0) metadata.attempts = attempts;
  if (params !== undefined) metadata.params = params;
  if (pipeline.length > 0) metadata.pipeline = pipeline;
  if (plan.report.length + attemptLog.report.length > 0) {
    metadata.translation = [...plan.report, ...attemptLog.report];
  }
  return metadata;
}

/** The routing metadata of a request without any candidate. */
export function metadataOfNothing({ plan }: NothingLeft, region: string | null): RoutingMetadata {
  const { requested, strategy, rejected, params, pipeline, report } = plan;
  return {
    requested,
    strategy,
    region,
    summary: 'available=0',
    attempt: 0,
    is_byok: false,
    endpoints: endpointsOf([], rejected),
    ...(params !== undefined && { params }),
    ...(pipeline.length > 0 && { pipeline }),
    ...(report.length > 0 && { translation: report }),
  };
}

function endpointsOf(
  available: RoutingMetadata['endpoints']['available'],
  rejected: readonly Rejection[],
): RoutingMetadata['endpoints'] {
  const total = available.length + rejected.length;
  if (rejected.length === 0) return { total, available };
  return { total, available, rejected: rejected.map(rejectionOf) };
}

/** An object under construction. */
type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

function rejectionOf({ endpoint, filter, reason }: Rejection) {
  return { provider: endpoint.provider.name, model: endpoint.modelId, filter, reason };
}

/** Entries kept in the lists of routing metadata; `endpoints.total` and `summary` still count all. */
const MAX_AVAILABLE_ENDPOINTS = 16;
const MAX_LIST_ENTRIES = 32;

const BOUNDS = { characters: 256, entries: MAX_LIST_ENTRIES, depth: 6 };

/** The routing metadata of a generation as its row keeps it, of bounded size. */
export function keptRouting(metadata: RoutingMetadata): JsonObject {
  const { endpoints, pipeline } = metadata;
  let cut = metadata;
  if (endpoints.available.length > MAX_AVAILABLE_ENDPOINTS) {
    cut = { ...cut, endpoints: { ...endpoints, available: leading(endpoints.available) } };
  }
  if (pipeline !== undefined && pipeline.length > MAX_LIST_ENTRIES) {
    cut = { ...cut, pipeline: weightiest(pipeline) };
  }
  return boundedJson(cut as unknown as JsonObject, BOUNDS) as JsonObject;
}

/** What guardrails did by which others decide what they may tell of a generation: the most decisive first. */
const DECISIVE_ACTIONS: readonly unknown[] = ['blocked', 'refused', 'redacted'];

/** The entries that fit, in their order: those that others decide by before all others. */
function weightiest(pipeline: readonly PipelineEntry[]): PipelineEntry[] {
  const rankOf = ({ data }: PipelineEntry) => {
    if (data?.flagged === true) return 0;
    const rank = DECISIVE_ACTIONS.indexOf(data?.action);
    return rank === -1 ? DECISIVE_ACTIONS.length : rank;
  };
  const places = [...pipeline.entries()].sort(([, one], [, other]) => rankOf(one) - rankOf(other));
  const kept = new Set(places.slice(0, MAX_LIST_ENTRIES).map(([place]) => place));
  return pipeline.filter((_, place) => kept.has(place));
}

/** The first entries, and the selected one whatever its place. */
function leading(available: RoutingMetadata['endpoints']['available']) {
  const first = available.slice(0, MAX_AVAILABLE_ENDPOINTS);
  const selected = available.slice(MAX_AVAILABLE_ENDPOINTS).filter((endpoint) => endpoint.selected);
  return [...first.slice(0, MAX_AVAILABLE_ENDPOINTS - selected.length), ...selected];
}
