import { createReadStream, statSync } from 'node:fs';
import { constants } from 'node:os';
import { prepareUsage, type UsagePreparation } from '../../app/installation.ts';
import type { Flags } from '../../config/runtime.ts';
import { CommandRefused } from '../../control/send-command.ts';
import type { ImportedView } from '../../control/views.ts';
import { GatewayError } from '../../ir/errors.ts';
import { type Line, LineReader } from '../../kit/text/line-reader.ts';
import { UsageIntake } from '../../manage/usage-import/usage-intake.ts';
import type { GenerationEvent } from '../../ports/events/events.ts';
import { installationOptions, runControlCommand } from '../run-control-command.ts';
import { jsonText, type Output } from '../terminal/output.ts';
import { ProgressBar } from '../terminal/progress-bar.ts';
import { badLinesText, type ImportView, importNotes, importText } from '../terminal/usage-import-text.ts';

export interface ImportFlags {
  readonly skipBad: boolean;
  /** Account that owns lines without key and workspace; if set, lines of other accounts are refused. */
  readonly account: string | undefined;
  readonly asJson: boolean;
  readonly output: Output;
  /** Shows progress. Default: if stderr is a terminal. */
  readonly showsProgress?: boolean;
}

const NOTHING: ImportedView = { imported: 0, known: 0, too_old: 0 };

/** Imports the usage of a file, all of it or nothing. Returns the exit code. */
export async function importUsage(flags: Flags, file: string, options: ImportFlags): Promise<number> {
  const { skipBad, account, asJson, output, showsProgress = process.stderr.isTTY && !asJson } = options;
  const ofBytes = sizeOf(file);
  const { dataDir } = installationOptions(flags);
  const intake = new UsageIntake(await runControlCommand(flags, 'usage.scopes', { account }), Date.now());
  const bar = showsProgress ? new ProgressBar(output.err) : undefined;
  const beganAtMs = performance.now();
  const progress = (bytes: number) =>
    bar?.show({ bytes, ofBytes, lines: intake.lines, elapsedMs: performance.now() - beganAtMs });
  const taken = await withPreparation(dataDir, output, async ({ bundle, place }, beginTakingIn) => {
    await prepareUsageLines({ file, intake, bundle, skipsBad: skipBad, progress });
    if (intake.bad > 0 && !skipBad) return undefined;
    if (intake.lines === intake.bad) return NOTHING;
    bar?.say('counting what is new');
    await bundle.close();
    place.share();
    beginTakingIn();
    return runControlCommand(flags, 'usage.import', { place: place.name });
  }).finally(() => bar?.clear());
  const notes = taken === undefined ? [] : importNotes(taken, intake.notKept);
  const view: ImportView = {
    lines: intake.lines,
    ...(taken ?? NOTHING),
    bad: intake.bad,
    problems: intake.badLines,
    notes,
  };
  const isRefused = taken === undefined;
  if (asJson) output.out(jsonText(view));
  else if (!isRefused) output.out(importText(view));
  if (!asJson || isRefused) output.err(badLinesText(view));
  if (isRefused) output.err(REFUSED);
  return isRefused ? 1 : 0;
}

const REFUSED = 'signalbox: nothing was imported: mend the file, or leave bad lines out with --skip-bad\n';

/** Size of a file in bytes; 0 for a pipe. */
function sizeOf(file: string): number {
  const status = statSync(file);
  if (status.isDirectory()) throw new CommandRefused(`${file} is a directory, not a file of usage`);
  return status.size;
}

/** Runs `work` with a new preparation, and removes it afterwards, also on signals. */
async function withPreparation<Result>(
  dataDir: string,
  output: Output,
  work: (preparation: UsagePreparation, beginTakingIn: () => void) => Promise<Result>,
): Promise<Result> {
  const preparation = prepareUsage(dataDir);
  let isBeingTakenIn = false;
  const interrupt = (signal: NodeJS.Signals) => {
    preparation.place.remove();
    output.err(isBeingTakenIn ? INTERRUPTED_LATE : INTERRUPTED);
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of SIGNALS) process.on(signal, interrupt);
  try {
    return await work(preparation, () => {
      isBeingTakenIn = true;
    });
  } catch (error) {
    if (isBeingTakenIn || !(error instanceof GatewayError)) throw error;
    const reason = error.cause instanceof Error ? error.cause.message : error.message;
    throw new CommandRefused(`the usage cannot be prepared in ${dataDir}: ${reason}`);
  } finally {
    await preparation.bundle.discard();
    preparation.place.remove();
    for (const signal of SIGNALS) process.off(signal, interrupt);
  }
}

const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const INTERRUPTED = '\nsignalbox: interrupted; nothing was imported\n';
const INTERRUPTED_LATE =
  '\nsignalbox: interrupted while usage was taken in; import the file again to be sure: nothing is counted twice\n';

/** Longer lines are bad. */
const MAX_LINE_BYTES = 1_048_576;

const BYTES_PER_READ = 262_144;

const EVENTS_PER_WRITE = 2_000;

interface LinePreparation {
  readonly file: string;
  readonly intake: UsageIntake;
  readonly bundle: Pick<UsagePreparation['bundle'], 'add' | 'addApps'>;
  /** Good lines are imported although others are bad. */
  readonly skipsBad: boolean;
  /** Called with the bytes read so far. */
  progress(bytes: number): void;
}

/** Streams a file of usage and writes the events of its good lines into a bundle. */
async function prepareUsageLines(preparation: LinePreparation): Promise<void> {
  const { file, intake, bundle, skipsBad, progress } = preparation;
  const reader = new LineReader(MAX_LINE_BYTES);
  let events: GenerationEvent[] = [];
  let bytes = 0;
  const handOver = async () => {
    bundle.addApps(intake.takeSightings());
    await bundle.add(events);
    events = [];
  };
  const takeAll = async (lines: Iterable<Line>) => {
    for (const line of lines) {
      const event = intake.take(line);
      // After a bad line the rest is still checked, so that all bad lines are reported.
      if (event === undefined || (intake.bad > 0 && !skipsBad)) continue;
      if (events.push(event) === EVENTS_PER_WRITE) await handOver();
    }
  };
  for await (const piece of createReadStream(file, { highWaterMark: BYTES_PER_READ })) {
    await takeAll(reader.push(piece as Buffer));
    bytes += (piece as Buffer).length;
    progress(bytes);
  }
  await takeAll(reader.end());
  await handOver();
}
