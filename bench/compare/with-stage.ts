import { Cast } from './cast.ts';
import { type Conditions, conditionsOf } from './conditions.ts';
import { nativeProgram } from './native-program.ts';
import type { BenchOptions } from './options.ts';
import { findPinning } from './pinning.ts';
import type { Stage } from './scenario.ts';
import { startUpstream } from './upstream-subject.ts';
import { Workbench } from './workbench.ts';

type StageOptions = Pick<BenchOptions, 'rounds' | 'seconds' | 'peers' | 'against'>;

/** Signals that end a run, and what it exits with then. */
const INTERRUPTS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

/** Sets everything up, lets it be used, and takes it down again: at the end, after a failure, and when interrupted. */
export async function withStage(
  built: string,
  { rounds, seconds, peers, against }: StageOptions,
  use: (stage: Stage, conditions: Conditions) => Promise<void>,
): Promise<void> {
  const pinning = findPinning();
  const workbench = new Workbench(pinning);
  const leave = (exitCode: number) => void workbench.close().finally(() => process.exit(exitCode));
  for (const [signal, exitCode] of Object.entries(INTERRUPTS)) process.once(signal, () => leave(exitCode));
  // The reader, such as `head`, has closed the pipe, or the terminal is gone.
  for (const output of [process.stdout, process.stderr]) output.once('error', () => leave(1));
  try {
    const [upstreamProgram, load] = (['upstream', 'load'] as const).map((name) =>
      nativeProgram(workbench, built, name),
    ) as [ReturnType<typeof nativeProgram>, ReturnType<typeof nativeProgram>];
    const conditions = conditionsOf(pinning, [upstreamProgram, load]);
    const upstream = await startUpstream(workbench, upstreamProgram);
    const cast = new Cast({ workbench, built, upstream, peers, against });
    await use({ workbench, load, cast, rounds, seconds, built }, conditions);
  } catch (problem) {
    console.error(`bench: ${problem instanceof Error ? problem.message : problem}`);
    process.exitCode = 1;
  } finally {
    await workbench.close();
  }
}
