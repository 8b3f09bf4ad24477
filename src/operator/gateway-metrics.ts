import type { ConfigurationState } from '../config/watch.ts';
import type { GenerationMetrics } from '../gateway/observers/generation-metrics.ts';
import type { HttpMetrics } from '../http/server/http-metrics.ts';
import { gauge } from '../kit/metrics/gauge.ts';
import type { LoopDelay } from '../kit/metrics/loop-delay.ts';
import type { MetricFamily } from '../kit/metrics/metric-family.ts';
import { processMetrics } from '../kit/metrics/process-metrics.ts';
import { usdOf } from '../kit/money.ts';
import type { Clock } from '../kit/time/clock.ts';
import type { BudgetFigure, KeyFigure, MoneyLeft } from '../manage/keys/money-left.ts';
import type { EventStore } from '../ports/events/events.ts';
import type { Ledger, SliceFigures } from '../ports/money/ledger.ts';
import type { Health } from '../routing/health/health.ts';
import type { GuardrailMetrics } from '../stages/guardrails/guardrail-metrics.ts';

export interface EarlyMetricSources {
  readonly http: HttpMetrics;
  readonly loopDelay: LoopDelay;
  readonly version: string;
  readonly configuration: () => ConfigurationState;
  readonly clock: Pick<Clock, 'monotonic'>;
}

export interface MetricSources extends EarlyMetricSources {
  readonly generations: GenerationMetrics;
  readonly guardrails: GuardrailMetrics;
  readonly ledger: Pick<
    Ledger,
    | 'openReservations'
    | 'reconciled'
    | 'isAvailable'
    | 'disk'
    | 'lag'
    | 'clockAheadMs'
    | 'slices'
    | 'writtenOff'
  >;
  readonly events: Pick<EventStore, 'isAvailable'>;
  readonly health: Pick<Health, 'coolingSites'>;
  readonly money: Pick<MoneyLeft, 'latest'>;
}

/** The metrics that are there before the installation is open. */
export function earlyMetrics({ http, loopDelay, version, ...sources }: EarlyMetricSources): MetricFamily[] {
  return [
    gauge({ name: 'signalbox_info', help: 'The version that runs.', read: () => [[{ version }, 1]] }),
    ...http.families,
    ...configurationMetrics(sources),
    ...processMetrics(loopDelay),
  ];
}

function configurationMetrics({
  configuration,
  clock,
}: Pick<EarlyMetricSources, 'configuration' | 'clock'>): readonly MetricFamily[] {
  return [
    gauge({
      name: 'signalbox_configuration_age_seconds',
      help: 'Since when the configuration in force is in force.',
      read: () => (clock.monotonic() - configuration().inForceSinceMs) / 1000,
    }),
    gauge({
      name: 'signalbox_configuration_file_refused',
      help: '1 while the configuration file is refused and an older configuration stays in force.',
      read: () => (configuration().isFileRefused ? 1 : 0),
    }),
  ];
}

function sliceMetrics(ledger: Pick<MetricSources['ledger'], 'slices'>): readonly MetricFamily[] {
  const figure = (of: (slices: SliceFigures) => number) => () =>
    ledger.slices === null ? [] : [[{}, of(ledger.slices)] as const];
  return [
    gauge({
      name: 'signalbox_slices',
      help: 'Slices that this gateway has: money reserved ahead for payers that reserve often.',
      read: figure(({ open }) => open),
    }),
    gauge({
      name: 'signalbox_slices_free_usd',
      help: 'Credits in slices that no generation has taken.',
      read: figure(({ freeNanos }) => usdOf(freeNanos)),
    }),
    gauge({
      name: 'signalbox_slice_generations_total',
      help: 'Generations that were paid from a slice, without a statement of their own.',
      type: 'counter',
      read: figure(({ paidGenerations }) => paidGenerations),
    }),
    gauge({
      name: 'signalbox_slice_statements_total',
      help: 'Statements that leased or refilled a slice.',
      type: 'counter',
      read: figure(({ statements }) => statements),
    }),
  ];
}

function labelsOfBudget({ account, workspace, window }: BudgetFigure) {
  return { account, workspace, window };
}

function labelsOfKey({ account, key, hash, window }: KeyFigure) {
  return { account, key, hash, window };
}

function moneyMetrics({ money, clock }: Pick<MetricSources, 'money' | 'clock'>): readonly MetricFamily[] {
  return [
    gauge({
      name: 'signalbox_balance_left_usd',
      help: 'What is left of enforced balances, reservations not counted: the 100 with the least.',
      read: () => money.latest.balances.map(({ account, leftNanos }) => [{ account }, usdOf(leftNanos)]),
    }),
    gauge({
      name: 'signalbox_budget_left_usd',
      help: 'What is left of the budgets of workspaces in their windows: the 100 with the smallest share left.',
      read: () => money.latest.budgets.map((budget) => [labelsOfBudget(budget), usdOf(budget.leftNanos)]),
    }),
    gauge({
      name: 'signalbox_budget_limit_usd',
      help: 'The budgets of which that is left.',
      read: () => money.latest.budgets.map((budget) => [labelsOfBudget(budget), usdOf(budget.limitNanos)]),
    }),
    gauge({
      name: 'signalbox_key_limit_left_usd',
      help: 'What is left of the limits of keys in their windows: as many as metrics.key_limits says.',
      read: () => money.latest.keys.map((key) => [labelsOfKey(key), usdOf(key.leftNanos)]),
    }),
    gauge({
      name: 'signalbox_key_limit_usd',
      help: 'The limits of which that is left.',
      read: () => money.latest.keys.map((key) => [labelsOfKey(key), usdOf(key.limitNanos)]),
    }),
    gauge({
      name: 'signalbox_money_age_seconds',
      help: 'Age of the figures of balances, budgets and keys; it grows while the database does not answer.',
      read: () => {
        const { readAtMs } = money.latest;
        return readAtMs === undefined ? [] : [[{}, (clock.monotonic() - readAtMs) / 1000]];
      },
    }),
  ];
}

/** Sources of the metrics of a worker; those of generations are absent until it serves. */
export type WorkerMetricSources = Pick<MetricSources, 'http' | 'loopDelay'> & {
  readonly [Name in 'generations' | 'guardrails']: MetricSources[Name] | undefined;
};

/** The metrics that each worker counts for itself; all others are its owner's. */
export function workerMetrics(sources: WorkerMetricSources): readonly MetricFamily[] {
  const { http, generations, guardrails, loopDelay } = sources;
  return [
    ...http.families,
    ...(generations?.families ?? []),
    ...(guardrails?.families ?? []),
    ...processMetrics(loopDelay),
  ];
}

/** All metrics of a gateway, in the order of `/metrics`. */
export function gatewayMetrics(sources: MetricSources): readonly MetricFamily[] {
  const { http, generations, guardrails, ledger, events, health, loopDelay, version } = sources;
  return [
    gauge({ name: 'signalbox_info', help: 'The version that runs.', read: () => [[{ version }, 1]] }),
    ...http.families,
    ...generations.families,
    ...guardrails.families,
    gauge({
      name: 'signalbox_open_reservations',
      help: 'Generations of this process that are accepted and not settled.',
      read: () => ledger.openReservations,
    }),
    gauge({
      name: 'signalbox_reservations_reconciled_total',
      help: 'Generations that were found unsettled long after their end, and settled then: each is a fault of the gateway.',
      type: 'counter',
      read: () => ledger.reconciled,
    }),
    gauge({
      name: 'signalbox_ledger_available',
      help: '1 while paid work may be begun, 0 while the ledger cannot be written.',
      read: () => (ledger.isAvailable ? 1 : 0),
    }),
    gauge({
      name: 'signalbox_journal_lag_records',
      help: 'Records that wait for the disk (journal), and settled generations that wait to be in a projection.',
      read: () => Object.entries(ledger.lag).map(([stage, count]) => [{ stage }, count] as const),
    }),
    gauge({
      name: 'signalbox_events_available',
      help: '0 while the last work on the events failed: analytics answer 503, and events wait.',
      read: () => (events.isAvailable ? 1 : 0),
    }),
    gauge({
      name: 'signalbox_journal_disk_waiting_seconds',
      help: 'How long the journal has waited for its disk by now, 0 if at most 50 ms: above 2 no generation begins.',
      read: () => ledger.disk.waitingMs / 1000,
    }),
    gauge({
      name: 'signalbox_journal_slow_writes_total',
      help: 'Operations on the disk of the journal that took longer than 50 ms.',
      type: 'counter',
      read: () => ledger.disk.slowWrites,
    }),
    gauge({
      name: 'signalbox_written_off_usd_total',
      help: 'Used beyond reservations and limits and charged to no account, by cause.',
      type: 'counter',
      read: () =>
        Object.entries(ledger.writtenOff).map(([cause, nanos]) => [{ cause }, usdOf(nanos)] as const),
    }),
    gauge({
      name: 'signalbox_clock_skew_seconds',
      help: "How far this gateway's clock is ahead of that of the shared database, which limits go by.",
      read: () => (ledger.clockAheadMs === null ? [] : [[{}, ledger.clockAheadMs / 1000]]),
    }),
    gauge({
      name: 'signalbox_endpoints_cooling',
      help: 'Endpoints that are not called for a while because they failed: for everyone, or for single accounts.',
      read: () => {
        const sites = health.coolingSites();
        const ofAll = sites.filter(({ accounts }) => accounts === 0).length;
        return [
          [{ scope: 'everyone' }, ofAll],
          [{ scope: 'account' }, sites.length - ofAll],
        ];
      },
    }),
    ...sliceMetrics(ledger),
    ...configurationMetrics(sources),
    ...moneyMetrics(sources),
    ...processMetrics(loopDelay),
  ];
}
