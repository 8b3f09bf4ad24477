import type { AttemptRecord, PipelineEntry, RoutingMetadata, TranslationEntry } from '../ir/metadata.ts';
import type { GenerationRow } from '../ports/generation-row.ts';
import type { Candidate, Rejection } from '../routing/candidate.ts';
import type { Visit } from '../routing/health/visit.ts';
import type { NothingLeft, Plan } from './plan.ts';

/** One upstream call, with all that is known of it. */
export interface UpstreamCall {
  readonly candidate: Candidate;
  /** What it answered; where it did not, what that means to the caller. */
  readonly status: number;
  /** Milliseconds to the first content, or to the failure. */
  readonly latencyMs: number;
  /** Milliseconds to the first byte, or to the failure. */
  readonly firstByteMs: number;
}

const NO_CALLS: readonly UpstreamCall[] = [];
const NO_NOTES: readonly PipelineEntry[] = [];

/** What the row of a generation says of its request, whatever comes of it. */
export type RequestMembers = Pick<
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

/** What has happened to one request so far. Written by the attempt loop, read by settlement and metadata. */
export class Journey {
  readonly plan: Plan;
  #calls: readonly UpstreamCall[] = NO_CALLS;
  /** The candidate that was called last, whatever came of it. */
  lastCalled: Candidate | undefined;
  #selected: Candidate | undefined;
  #visit: Visit | undefined;
  /** Worked out for the first of its rows. */
  requestMembers: RequestMembers | undefined;
  /** What stages did, for the pipeline of the metadata. They add to it as they go. */
  readonly notes: readonly PipelineEntry[];
  /** Translation report of the call that serves. */
  report: readonly TranslationEntry[] = [];

  constructor(plan: Plan, notes: readonly PipelineEntry[] = NO_NOTES) {
    this.plan = plan;
    this.notes = notes;
  }

  /** Notes an upstream call whose outcome is known. */
  note(candidate: Candidate, status: number, latencyMs: number, firstByteMs = latencyMs): void {
    const call = { candidate, status, latencyMs, firstByteMs };
    // A list that is added to makes room for many: nearly always there is one.
    this.#calls = this.#calls.length === 0 ? [call] : [...this.#calls, call];
  }

  /** The calls whose outcome is known, in order. */
  get calls(): readonly UpstreamCall[] {
    return this.#calls;
  }

  /** Milliseconds until the first bytes of endpoints. */
  get firstByteMs(): number {
    return this.#calls.reduce((sum, { firstByteMs }) => sum + firstByteMs, 0);
  }

  /** Milliseconds that endpoints were waited for. */
  get waitedMs(): number {
    return this.#calls.reduce((sum, { latencyMs }) => sum + latencyMs, 0);
  }

  /** The calls as callers are told of them. */
  get attempts(): AttemptRecord[] {
    return this.#calls.map(({ candidate, status }) => ({
      provider: candidate.endpoint.provider.name,
      model: candidate.model.id,
      status,
    }));
  }

  /** The candidate that serves, once one does. */
  get selected(): Candidate | undefined {
    return this.#selected;
  }

  /** The call that serves; to be concluded when the answer has ended. */
  get visit(): Visit | undefined {
    return this.#visit;
  }

  /** Settles on a candidate. A call that served before is given up: a stage asked for another answer. */
  select(candidate: Candidate, visit?: Visit): void {
    this.#visit?.abandoned();
    this.#selected = candidate;
    this.#visit = visit;
  }
}

/** The routing metadata object of a request that was planned. One that failed has selected nobody. */
export function routingMetadata(
  journey: Journey,
  region: string | null,
  outcome: 'served' | 'failed',
): RoutingMetadata {
  const { plan, attempts } = journey;
  const { candidates, params } = plan;
  const pipeline = journey.notes.length === 0 ? plan.pipeline : [...plan.pipeline, ...journey.notes];
  const selected = outcome === 'served' ? journey.selected : undefined;
  const available = candidates.map((candidate) => ({
    provider: candidate.endpoint.provider.name,
    model: candidate.model.id,
    selected: candidate === selected,
  }));
  const choice = selected === undefined ? '' : `, selected=${selected.endpoint.provider.name}`;
  const metadata: Mutable<RoutingMetadata> = {
    requested: plan.requested,
    strategy: plan.strategy,
    region,
    summary: `available=${available.length}${choice}`,
    attempt: attempts.length,
    is_byok: (selected ?? journey.lastCalled)?.access.kind === 'own',
    endpoints: endpointsOf(available, plan.rejected),
  };
  if (attempts.length > 0) metadata.attempts = attempts;
  if (params !== undefined) metadata.params = params;
  if (pipeline.length > 0) metadata.pipeline = pipeline;
  if (plan.report.length + journey.report.length > 0) {
    metadata.translation = [...plan.report, ...journey.report];
  }
  return metadata;
}

/** The routing metadata object of a request for which nothing was left. */
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

/** An object while it is made. */
type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

function rejectionOf({ endpoint, filter, reason }: Rejection) {
  return { provider: endpoint.provider.name, model: endpoint.modelId, filter, reason };
}
