import { createReadStream } from 'node:fs';
import type { UsagePreparation } from '../../installation.ts';
import { type Line, LineReader } from '../../kit/text/line-reader.ts';
import type { UsageIntake } from '../../manage/usage-import/usage-intake.ts';
import type { GenerationEvent } from '../../ports/events.ts';

/** A longer line is no line of usage. */
const MOST_LINE_BYTES = 1_048_576;

/** Bytes that are read at once. */
const PIECE_BYTES = 262_144;

/** Events that are handed over at once. */
const BATCH = 2_000;

/** How lines become events. */
export interface LinePreparation {
  readonly file: string;
  readonly intake: UsageIntake;
  readonly bundle: Pick<UsagePreparation['bundle'], 'add' | 'addApps'>;
  /** Whether good lines are of use although others are bad. */
  readonly skipsBad: boolean;
  /** Is told how many bytes were read so far. */
  progress(bytes: number): void;
}

/** Reads a file of usage as a stream, and writes the events of its good lines into a bundle. */
export async function prepareUsageLines(preparation: LinePreparation): Promise<void> {
  const { file, intake, bundle, skipsBad, progress } = preparation;
  const reader = new LineReader(MOST_LINE_BYTES);
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
      // What is not going to be imported is still looked at, so that people learn of all that is bad.
      if (event === undefined || (intake.bad > 0 && !skipsBad)) continue;
      if (events.push(event) === BATCH) await handOver();
    }
  };
  for await (const piece of createReadStream(file, { highWaterMark: PIECE_BYTES })) {
    await takeAll(reader.push(piece as Buffer));
    bytes += (piece as Buffer).length;
    progress(bytes);
  }
  await takeAll(reader.end());
  await handOver();
}
