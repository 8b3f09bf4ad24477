import type { ErrorKind } from '../../ir/errors.ts';
import { remembered } from '../../kit/collections/remembered.ts';
import { Counter, type Sum } from '../../kit/metrics/counter.ts';
import { DURATION_BOUNDS } from '../../kit/metrics/duration-bounds.ts';
import { gauge } from '../../kit/metrics/gauge.ts';
import { type Distribution, Histogram } from '../../kit/metrics/histogram.ts';
import type { MetricFamily } from '../../kit/metrics/metric-family.ts';
import type { Workspace } from '../../ports/tenancy/tenancy.ts';
import type { PhaseTimes, ServerTiming } from '../exchange/server-timing.ts';

export interface InFlight {
  requests(): number;
  generations(): number;
}

interface OperationFigures {
  readonly duration: Distribution;
  readonly byStatus: Map<number | 'gone', Sum>;
}

/** Why a generation was turned away: `flood`: overload; `in-flight`: `maxConcurrentRequests` are in flight. */
export type TurnAwayReason = 'flood' | 'in-flight';

/** Workspaces that are counted: those whose keys came first. */
const MAX_WORKSPACES = 200;

/** Limit of the series by operation; there are fewer operations. */
const MAX_OPERATIONS = 1000;

const PHASES: readonly (keyof PhaseTimes)[] = ['auth', 'plan', 'upstream', 'gateway'];

/** Counts requests by the operation of the interface that they were for, and what they came to. */
export class HttpMetrics {
  readonly families: readonly MetricFamily[];
  readonly #requests = new Counter({
    name: 'signalbox_http_requests_total',
    help: 'Requests that were answered, by operation and status; `gone` where the caller left before.',
    labels: ['operation', 'status'],
  });
  readonly #errors = new Counter({
    name: 'signalbox_http_errors_total',
    help: 'Requests that were refused or failed before their answer began, by kind of error.',
    labels: ['kind'],
  });
  readonly #turnedAway = new Counter({
    name: 'signalbox_generations_turned_away_total',
    help:
      'Requests for generations that were refused with 503 because there were too many, by what there was ' +
      'too much of.',
    labels: ['reason'],
  });
  readonly #byReason: Readonly<Record<TurnAwayReason, Sum>> = {
    flood: this.#turnedAway.of({ reason: 'flood' }),
    'in-flight': this.#turnedAway.of({ reason: 'in-flight' }),
  };
  readonly #duration = new Histogram({
    name: 'signalbox_http_request_seconds',
    help: 'From the head of a request to the end of its answer, by operation.',
    labels: ['operation'],
    bounds: DURATION_BOUNDS,
  });
  readonly #phases = new Histogram({
    name: 'signalbox_phase_seconds',
    help: 'What Server-Timing told callers of generation routes, refused requests included, by phase.',
    labels: ['phase'],
    bounds: DURATION_BOUNDS,
  });

  readonly #operation = remembered(
    MAX_OPERATIONS,
    (operation): OperationFigures => ({
      duration: this.#duration.of({ operation }),
      byStatus: new Map(),
    }),
  );
  readonly #workspaces = new Counter({
    name: 'signalbox_workspace_requests_total',
    help: 'Answered requests for generations by the workspace of their key and status; a stream has the status it began with.',
    labels: ['account_id', 'workspace', 'status'],
  });
  /** By the id of the workspace. */
  readonly #byWorkspace = new Map<string, Map<number | 'gone', Sum>>();
  #phase: Readonly<Record<keyof PhaseTimes, Distribution>> | undefined;

  constructor(inFlight: InFlight) {
    this.families = [
      this.#requests,
      this.#errors,
      this.#turnedAway,
      this.#duration,
      this.#phases,
      this.#workspaces,
      gauge({
        name: 'signalbox_http_requests_in_flight',
        help: 'Requests without a whole answer.',
        read: inFlight.requests,
      }),
      gauge({
        name: 'signalbox_generations_in_flight',
        help: 'Requests for generations without a whole answer.',
        read: inFlight.generations,
      }),
    ];
  }

  answered(operation: string, status: number | 'gone', timing: ServerTiming): void {
    const { duration, byStatus } = this.#operation(operation);
    const known = byStatus.get(status);
    if (known === undefined) byStatus.set(status, this.#counted(operation, status));
    else known.add();
    duration.observe(timing.elapsed() / 1000);
    const { sent } = timing;
    if (sent === undefined) return;
    this.#phase ??= {
      auth: this.#phases.of({ phase: 'auth' }),
      plan: this.#phases.of({ phase: 'plan' }),
      upstream: this.#phases.of({ phase: 'upstream' }),
      gateway: this.#phases.of({ phase: 'gateway' }),
    };
    for (const phase of PHASES) this.#phase[phase].observe(sent[phase] / 1000);
  }

  #counted(operation: string, status: number | 'gone'): Sum {
    const sum = this.#requests.of({ operation, status: String(status) });
    sum.add();
    return sum;
  }

  /** Counts the answer to a generation for its workspace. */
  answeredIn(workspace: Pick<Workspace, 'id' | 'accountId' | 'slug'>, status: number | 'gone'): void {
    let byStatus = this.#byWorkspace.get(workspace.id);
    if (byStatus === undefined) {
      if (this.#byWorkspace.size >= MAX_WORKSPACES) return;
      byStatus = new Map();
      this.#byWorkspace.set(workspace.id, byStatus);
    }
    let sum = byStatus.get(status);
    if (sum === undefined) {
      const { accountId, slug } = workspace;
      sum = this.#workspaces.of({ account_id: accountId, workspace: slug, status: String(status) });
      byStatus.set(status, sum);
    }
    sum.add();
  }

  turnedAway(reason: TurnAwayReason): void {
    this.#byReason[reason].add();
  }

  failed(kind: ErrorKind): void {
    this.#errors.add({ kind });
  }
}
