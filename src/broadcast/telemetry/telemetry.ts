import { isInTime } from '../../kit/loop/is-in-time.ts';
import { gauge } from '../../kit/metrics/gauge.ts';
import type { MetricFamily } from '../../kit/metrics/metric-family.ts';
import { logsRequests } from './logs-request.ts';
import { metricsRequests } from './metrics-request.ts';
import { type SenderDependencies, SignalSender, type TelemetryTarget } from './signal-sender.ts';
import type { TelemetrySource } from './telemetry-source.ts';
import { WaitingLines } from './waiting-lines.ts';

export interface TelemetryOptions extends SenderDependencies {
  /** The current target; null = nothing is sent. */
  readonly target: () => TelemetryTarget | null;
  readonly source: TelemetrySource;
  /** The figures of `/metrics`. */
  readonly collect: () => Promise<readonly MetricFamily[]>;
}

/** How often it is looked what there is to send. */
const TICK_MS = 1_000;

/** Sends metrics and lines of the log to a receiver of OTLP/HTTP. Work waits in memory only, within bounds. */
export class Telemetry {
  readonly families: readonly MetricFamily[];
  readonly #options: TelemetryOptions;
  readonly #lines = new WaitingLines();
  /** Lines that were taken from those and not by the receiver. */
  #batch: readonly string[] = [];
  readonly #metrics: SignalSender<'ExportMetricsServiceRequest'>;
  readonly #logs: SignalSender<'ExportLogsServiceRequest'>;
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #target: TelemetryTarget | null = null;
  /** On the monotonic clock. */
  #metricsDueMs = Number.NEGATIVE_INFINITY;
  #sendingMetrics: Promise<void> | undefined;
  #sendingLogs: Promise<void> | undefined;

  constructor(options: TelemetryOptions) {
    this.#options = options;
    this.#metrics = new SignalSender('metrics', 'ExportMetricsServiceRequest', options);
    this.#logs = new SignalSender('logs', 'ExportLogsServiceRequest', options);
    this.families = [
      gauge({
        name: 'signalbox_telemetry_available',
        help: '0 while the receiver of telemetry does not take a signal.',
        read: () => this.#figures(),
      }),
      gauge({
        name: 'signalbox_telemetry_log_lines_dropped_total',
        help: 'Lines of the log that the receiver of telemetry refused, or that waited for it beyond the bounds.',
        type: 'counter',
        read: () => (this.#target === null ? [] : [[{}, this.#lines.dropped]]),
      }),
    ];
  }

  get takesLines(): boolean {
    return this.#target?.sendsLogs === true;
  }

  /** Takes the target in force into use. */
  configure(): void {
    const target = this.#options.target();
    if (JSON.stringify(target) === JSON.stringify(this.#target)) return;
    this.#target = target;
    for (const sender of [this.#metrics, this.#logs]) sender.reset();
    clearInterval(this.#timer);
    this.#timer = target === null ? undefined : setInterval(this.#tick, TICK_MS).unref();
    this.#metricsDueMs = Number.NEGATIVE_INFINITY;
  }

  addLine(line: string): void {
    if (this.takesLines) this.#lines.add(line.trimEnd());
  }

  addLines(text: string): void {
    if (!this.takesLines) return;
    for (const line of text.split('\n')) if (line !== '') this.#lines.add(line);
  }

  /** Sends what there is now, for so long at most. Rejects never. */
  async flush(limitMs: number): Promise<void> {
    if (this.#target === null) return;
    const all = Promise.all([this.#sendingMetrics, this.#sendingLogs]).then(() =>
      Promise.all([this.#sendMetrics(), this.#sendLogs()]),
    );
    await isInTime(all, limitMs);
  }

  /** Sends the last lines, for a moment at most. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    if (this.#lines.count > 0 && this.#logs.isWell) await isInTime(this.#sendLogs(), LAST_LINES_MS);
    this.#stop.abort();
    this.#target = null;
  }

  readonly #tick = (): void => {
    const nowMs = this.#options.clock.monotonic();
    if (this.#sendingLogs === undefined && !this.#logs.isPaused) void this.#sendLogs();
    if (this.#sendingMetrics !== undefined || this.#metrics.isPaused || nowMs < this.#metricsDueMs) return;
    this.#metricsDueMs = nowMs + (this.#target?.metricsEveryMs ?? 0);
    void this.#sendMetrics();
  };

  #sendMetrics(): Promise<void> {
    this.#sendingMetrics = this.#reportMetrics().finally(() => {
      this.#sendingMetrics = undefined;
    });
    return this.#sendingMetrics;
  }

  /** A report that fails is not repeated: the next one has its sums too. */
  async #reportMetrics(): Promise<void> {
    const { collect, source, clock } = this.#options;
    const families = await collect().catch(() => []);
    const target = this.#target;
    if (target === null || families.length === 0) return;
    await this.#metrics.send(target, metricsRequests(families, source, clock.now()), this.#stop.signal);
  }

  #sendLogs(): Promise<void> {
    this.#sendingLogs = this.#drainLogs().finally(() => {
      this.#sendingLogs = undefined;
    });
    return this.#sendingLogs;
  }

  async #drainLogs(): Promise<void> {
    const { source, clock } = this.#options;
    while (this.#target !== null && (this.#batch.length > 0 || this.#lines.count > 0)) {
      if (this.#batch.length === 0) this.#batch = this.#lines.take();
      const request = logsRequests(this.#batch, source, clock.now());
      const sent = await this.#logs.send(this.#target, request, this.#stop.signal);
      if (sent === 'waits') return;
      if (sent === 'refused') this.#lines.noteDropped(this.#batch);
      this.#batch = [];
      if (sent === 'refused') return;
    }
  }

  *#figures() {
    if (this.#target === null) return;
    yield [{ signal: 'metrics' }, Number(this.#metrics.isWell)] as const;
    if (this.#target.sendsLogs) yield [{ signal: 'logs' }, Number(this.#logs.isWell)] as const;
  }
}

/** How long closing waits for the last lines to be taken, milliseconds. */
const LAST_LINES_MS = 1_000;
