import { pauseMs } from '../following/pauses.ts';
import { isSampled } from '../following/sampling.ts';
import type { Log } from '../kit/log/log.ts';
import type { ContentStore } from '../ports/content/content.ts';
import type {
  Classifier,
  ClassifierRun,
  ClassifierRunStore,
  ClassifierStore,
  RunProgress,
} from '../ports/following/classifiers.ts';
import type { FollowedGeneration } from '../ports/following/follower.ts';
import type { FollowerNotes } from '../ports/following/follower-notes.ts';
import type { GenerationStore, SettledPosition } from '../ports/generations/generations.ts';
import type { Ledger } from '../ports/money/ledger.ts';
import { runScopeId } from './classifier-caller.ts';
import {
  type BatchOutcome,
  ClassifyBatch,
  type ClassifyBatchDependencies,
  isClassified,
} from './classify-batch.ts';

export interface RunWorkerDependencies extends ClassifyBatchDependencies {
  readonly runs: Pick<ClassifierRunStore, 'listRunning' | 'note'>;
  readonly store: Pick<ClassifierStore, 'find'>;
  readonly generations: Pick<GenerationStore, 'settledAfter'>;
  readonly contents: Pick<ContentStore, 'get'>;
  readonly ledger: Pick<Ledger, 'spendingOf'>;
  /** Says which gateway does the work of all. */
  readonly turn: Pick<FollowerNotes, 'takeTurn'>;
  /** Interval at which the turn is renewed while a model is asked, milliseconds. */
  readonly renewMs?: number;
  /** 0 <= number < 1. */
  readonly random: () => number;
  readonly log: Pick<Log, 'warn' | 'info'>;
}

/** How often runs are looked for although none was started here, milliseconds. */
const LIST_MS = 30_000;

const RENEW_MS = 2_500;

/** How often another gateway's turn is looked at while there are runs, milliseconds: it may have been killed. */
const TURN_MS = 5_000;

/** Rows that are read at once. */
const PAGE_ROWS = 100;

/** Generations that may be asked again after a crash. */
const BATCH_SIZE = 16;

/** Goes through the past for the runs of classifiers, at the gateway whose turn it is; without runs it does nothing. */
export class RunWorker {
  readonly #dependencies: RunWorkerDependencies;
  readonly #closing = new AbortController();
  readonly #batches = new Map<string, ClassifyBatch>();
  /** Runs whose model did not answer: since when, and until when they wait. */
  readonly #pauses = new Map<string, { readonly failures: number; readonly untilMs: number }>();
  #wake: () => void = () => {};
  #isWoken = false;
  #work: Promise<void> = Promise.resolve();

  constructor(dependencies: RunWorkerDependencies) {
    this.#dependencies = dependencies;
  }

  start(): void {
    this.#work = this.#workOn();
  }

  /** Called after a run was started. */
  lookAgain(): void {
    this.#isWoken = true;
    this.#wake();
  }

  /** Breaks off the batch under way: it is gone through again later. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the gateway ends'));
    this.#wake();
    await this.#work;
  }

  async #workOn(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      this.#isWoken = false;
      // The database logs its outages itself; the next pass tries again.
      const pause = await this.#pass().catch(() => LIST_MS / 10);
      await this.#pause(pause);
    }
  }

  async #pause(ms: number): Promise<void> {
    if (this.#closing.signal.aborted || this.#isWoken) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** A batch of each run. Resolves with the milliseconds until the next pass. */
  async #pass(): Promise<number> {
    const { runs, turn, clock } = this.#dependencies;
    const running = await runs.listRunning();
    const ids = new Set(running.map(({ id }) => id));
    for (const known of [this.#batches, this.#pauses]) {
      for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
    }
    if (running.length === 0) return LIST_MS;
    if (!(await turn.takeTurn())) return TURN_MS;
    let pause = LIST_MS;
    for (const run of running) {
      const { untilMs = 0 } = this.#pauses.get(run.id) ?? {};
      const left = untilMs - clock.monotonic();
      if (left <= 0 && !(await this.#stepInTurn(run))) return TURN_MS;
      const next = (this.#pauses.get(run.id)?.untilMs ?? 0) - clock.monotonic();
      pause = Math.min(pause, Math.max(0, next));
    }
    return pause;
  }

  /** Renews the turn meanwhile: models may take longer than it lasts. False if another gateway has it now. */
  async #stepInTurn(run: ClassifierRun): Promise<boolean> {
    const { turn, renewMs = RENEW_MS } = this.#dependencies;
    const lost = new AbortController();
    const renewing = setInterval(() => {
      // The database logs its outages itself. Until it is known who has the turn, nothing is broken off.
      turn.takeTurn().then(
        (isHeld) => isHeld || lost.abort(),
        () => {},
      );
    }, renewMs).unref();
    try {
      await this.#step(run, AbortSignal.any([this.#closing.signal, lost.signal]));
    } catch (error) {
      if (!lost.signal.aborted) throw error;
    } finally {
      clearInterval(renewing);
    }
    return !lost.signal.aborted;
  }

  async #step(run: ClassifierRun, signal: AbortSignal): Promise<void> {
    const { store } = this.#dependencies;
    const classifier = await store.find(run.accountId, run.classifierId);
    if (classifier === undefined) {
      await this.#note(run, { state: 'stopped', problem: 'the classifier was deleted' });
      return;
    }
    const page = await this.#read(run, classifier);
    const batch = this.#batches.get(run.id) ?? new ClassifyBatch(this.#dependencies);
    this.#batches.set(run.id, batch);
    const scope = { id: run.id, budgetNanos: run.budgetNanos };
    const outcome = await batch.classify(classifier, page.generations, {
      run: scope,
      signal,
    });
    signal.throwIfAborted();
    await this.#went(run, page, outcome);
  }

  async #went(run: ClassifierRun, page: Page, outcome: BatchOutcome): Promise<void> {
    const { ledger, clock, random } = this.#dependencies;
    const [spending] = await ledger.spendingOf('member', [runScopeId(run.accountId, run.id)], clock.now());
    const spentNanos = (spending?.credit.lifetime ?? 0n) + (spending?.byok.lifetime ?? 0n);
    const { stopped } = outcome;
    if (stopped?.kind === 'waits') {
      const failures = (this.#pauses.get(run.id)?.failures ?? 0) + 1;
      const untilMs = clock.monotonic() + pauseMs(failures, stopped.retryAfterMs, random);
      this.#pauses.set(run.id, { failures, untilMs });
      await this.#note(run, { spentNanos, problem: stopped.problem });
      return;
    }
    this.#pauses.delete(run.id);
    const { progress } = run;
    const gone = {
      spentNanos,
      tagged: progress.tagged + outcome.tagged,
      withoutContent: progress.withoutContent + outcome.withoutContent,
      failed: progress.failed + outcome.failed,
    };
    if (stopped !== undefined) {
      await this.#note(run, { ...gone, state: 'stopped', problem: stopped.problem });
      return;
    }
    await this.#note(run, {
      ...gone,
      problem: null,
      place: page.place ?? progress.place,
      seen: progress.seen + page.seen,
      ...(page.place === null && { state: 'done' }),
    });
  }

  /** The next generations of the workspace, with their content. */
  async #read({ progress, fromMs, toMs }: ClassifierRun, classifier: Classifier): Promise<Page> {
    const { generations, contents } = this.#dependencies;
    let place: SettledPosition = progress.place ?? { settledAtMs: fromMs - 1, id: '\uffff' };
    const found: FollowedGeneration[] = [];
    let seen = 0;
    const rows = await generations.settledAfter(place, PAGE_ROWS);
    for (const generation of rows) {
      this.#closing.signal.throwIfAborted();
      if (generation.settledAtMs >= toMs) return { generations: found, place: null, seen };
      place = { settledAtMs: generation.settledAtMs, id: generation.id };
      const { scopes } = generation;
      if (scopes.workspace !== classifier.workspaceId || scopes.account !== classifier.accountId) continue;
      if (!isClassified(generation)) continue;
      seen++;
      if (!isSampled(generation, classifier.samplingRate)) continue;
      const content = await contents.get(classifier.accountId, generation.id);
      found.push({ generation, content });
      if (found.length === BATCH_SIZE) return { generations: found, place, seen };
    }
    return { generations: found, place: rows.length < PAGE_ROWS ? null : place, seen };
  }

  async #note(run: ClassifierRun, change: Partial<RunProgress>): Promise<void> {
    const { runs, clock, log } = this.#dependencies;
    const progress = { ...run.progress, ...change, updatedAtMs: clock.now() };
    const isNoted = await runs.note(run.id, progress);
    const { state, seen, tagged, problem } = progress;
    if (isNoted && state !== 'running') {
      log.info('a run of a classifier has ended', {
        run: run.id,
        classifier: run.classifierId,
        state,
        seen,
        tagged,
        problem,
      });
    }
  }
}

/** Generations of a run; `place`: behind the last one, null = there are no more. */
interface Page {
  readonly generations: readonly FollowedGeneration[];
  readonly place: SettledPosition | null;
  readonly seen: number;
}
