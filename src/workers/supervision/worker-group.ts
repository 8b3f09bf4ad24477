import type { Log } from '../../kit/log/log.ts';
import { isInTime } from '../../kit/loop/is-in-time.ts';
import type { Handlers } from '../channel/channel.ts';
import { RestartDelay } from './restart-delay.ts';
import { WorkerProcess, type WorkerProcessOptions } from './worker-process.ts';

export interface WorkerGroupOptions<Remote extends Handlers>
  extends Pick<WorkerProcessOptions, 'module' | 'forwarding' | 'writeLog'> {
  readonly count: number;
  readonly log: Log;
  /** The functions that a worker may call; `gone` is called after its end. */
  serve(worker: number): { readonly handlers: Handlers; gone(): void };
  /** Makes a started worker serve. A rejection ends the worker. */
  open(worker: WorkerProcess<Remote>): Promise<void>;
  /** Asks whether the worker still works. */
  ping(worker: WorkerProcess<Remote>): Promise<void>;
  /** Time between pings, and the time for an answer, milliseconds. */
  readonly pingMs?: number;
  readonly patienceMs?: number;
}

/** A place of the group: its current process, if there is one. */
interface Place<Remote extends Handlers> {
  readonly number: number;
  readonly delay: RestartDelay;
  worker: WorkerProcess<Remote> | undefined;
  /** When it began to serve, on the monotonic clock. */
  servesSinceMs: number | undefined;
}

const PING_MS = 1_000;

/** A worker ended before the gateway was ready. */
export class WorkerStartFailure extends Error {
  override readonly name = 'WorkerStartFailure';

  constructor(worker: number, reason: string) {
    super(
      `worker ${worker} ended while it started (${reason}); ` +
        'if lines above do not say why, give the machine more memory, or start fewer with --workers',
    );
  }
}

/**
 * A worker that does not answer for so long hangs: no work of ours blocks the event loop for seconds. Its connections
 * are open until then, so a caller waits for at most 10 seconds.
 */
const PATIENCE_MS = 8_000;

/** How long a stop waits for the exit of workers that have drained, milliseconds. */
const EXIT_MS = 2_000;

/** Starts serving processes, and replaces those that die or hang. */
export class WorkerGroup<Remote extends Handlers> {
  readonly #options: WorkerGroupOptions<Remote>;
  readonly #places: readonly Place<Remote>[];
  readonly #timer: NodeJS.Timeout;
  readonly #restarts = new Set<NodeJS.Timeout>();
  /** Calls back with the first worker that ends before the group is open. */
  #onFailedStart: ((error: Error) => void) | undefined;
  #replaced = 0;
  #isStopping = false;

  constructor(options: WorkerGroupOptions<Remote>) {
    this.#options = options;
    this.#places = Array.from({ length: options.count }, (_, index) => ({
      number: index + 1,
      delay: new RestartDelay(),
      worker: undefined,
      servesSinceMs: undefined,
    }));
    this.#timer = setInterval(() => this.#pingAll(), options.pingMs ?? PING_MS).unref();
  }

  /** Starts all workers. Resolves when all serve; rejects if one ends before. */
  async open(): Promise<void> {
    const failed = new Promise<never>((_, reject) => {
      this.#onFailedStart = reject;
    });
    failed.catch(() => {});
    await Promise.race([Promise.all(this.#places.map((place) => this.#start(place))), failed]);
    this.#onFailedStart = undefined;
  }

  get serving(): readonly WorkerProcess<Remote>[] {
    return this.#places.flatMap(({ worker, servesSinceMs }) =>
      worker !== undefined && servesSinceMs !== undefined ? [worker] : [],
    );
  }

  /** All workers, also those that are starting. */
  get all(): readonly WorkerProcess<Remote>[] {
    return this.#places.flatMap(({ worker }) => (worker === undefined ? [] : [worker]));
  }

  get replaced(): number {
    return this.#replaced;
  }

  /** Has every worker end its work by `drain`, and ends those that take longer than `limitMs`. */
  async stop(drain: (worker: WorkerProcess<Remote>) => Promise<void>, limitMs: number): Promise<void> {
    this.#stopReplacing();
    await Promise.all(
      this.all.map(async (worker) => {
        const drained = drain(worker).catch(() => {});
        if (await isInTime(drained, limitMs)) worker.channel.close();
        else worker.kill();
        if (!(await isInTime(worker.whenExited, EXIT_MS))) worker.kill();
        await worker.whenExited;
      }),
    );
  }

  async close(): Promise<void> {
    this.#stopReplacing();
    for (const worker of this.all) worker.kill();
    await Promise.all(this.all.map(({ whenExited }) => whenExited));
  }

  #stopReplacing(): void {
    this.#isStopping = true;
    clearInterval(this.#timer);
    for (const restart of this.#restarts) clearTimeout(restart);
  }

  async #start(place: Place<Remote>): Promise<void> {
    const { number } = place;
    const { module, forwarding, writeLog, log } = this.#options;
    const served = this.#options.serve(number);
    const gone = (reason: string) => {
      served.gone();
      this.#onGone(place, reason);
    };
    const failed = (name: string, error: unknown) =>
      log.error('a message of a worker failed', { worker: number, name, error });
    let worker: WorkerProcess<Remote>;
    try {
      worker = new WorkerProcess<Remote>(
        { module, number, forwarding, writeLog, gone, failed },
        served.handlers,
      );
    } catch (error) {
      gone((error as Error).message);
      return;
    }
    place.worker = worker;
    try {
      await this.#options.open(worker);
      place.servesSinceMs = performance.now();
    } catch (error) {
      // A closed channel is the end of the process: `gone` reports it, with the reason.
      if (!worker.channel.isClosed) {
        if (this.#onFailedStart !== undefined) this.#onFailedStart(error as Error);
        else log.error('a worker cannot serve', { worker: number, error });
      }
      worker.kill();
    }
  }

  #onGone(place: Place<Remote>, reason: string): void {
    const { number, servesSinceMs } = place;
    place.worker = undefined;
    place.servesSinceMs = undefined;
    if (this.#isStopping) return;
    const delayMs = place.delay.afterDeath(
      servesSinceMs === undefined ? 0 : performance.now() - servesSinceMs,
    );
    this.#options.log.error('a worker has ended; another takes its place', {
      worker: number,
      reason,
      starts_in_ms: delayMs,
    });
    this.#onFailedStart?.(new WorkerStartFailure(number, reason));
    this.#replaced++;
    const restart = setTimeout(() => {
      this.#restarts.delete(restart);
      void this.#start(place);
    }, delayMs);
    this.#restarts.add(restart);
  }

  #pingAll(): void {
    for (const worker of this.serving) void this.#ping(worker);
  }

  async #ping(worker: WorkerProcess<Remote>): Promise<void> {
    const answered = this.#options.ping(worker).catch(() => {});
    if (await isInTime(answered, this.#options.patienceMs ?? PATIENCE_MS)) return;
    this.#options.log.error('a worker does not answer and is ended', { worker: worker.number });
    worker.kill();
  }
}
