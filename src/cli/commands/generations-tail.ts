import { loadConfiguration } from '../../config/load.ts';
import type { Flags } from '../../config/runtime.ts';
import { readTail } from '../../control/read-tail.ts';
import { parseTailFilter, type TailFilter } from '../../control/tail.ts';
import { loadOptions } from '../../settings/load-options.ts';
import type { Output } from '../terminal/output.ts';
import { tailText } from '../terminal/tail-text.ts';

export interface TailOptions {
  readonly filter: TailFilter;
  readonly asJson: boolean;
  readonly output: Output;
}

/** On stderr, so that a reader of the generations does not get it. */
const CONNECTED = 'signalbox: connected to the gateway; generations are shown as they end (Ctrl-C stops)\n';

/**
 * Prints the generations that a running gateway ends, until its reader or the gateway goes away. Needs no valid
 * configuration: only the data directory.
 */
export async function tailGenerations(
  flags: Flags,
  { filter, asJson, output }: TailOptions,
): Promise<number> {
  const loading = loadConfiguration(loadOptions(flags));
  const { dataDir, colours } = loading.ok ? loading.loaded.runtime : loading.runtime;
  const isTerminal = process.stdout.isTTY === true;
  const style = { hasColours: isTerminal && colours === true, hasShortIds: isTerminal };
  const readerGone = new AbortController();
  process.stdout.once('error', () => readerGone.abort());
  await readTail(
    dataDir,
    parseTailFilter(filter),
    {
      connected: () => output.err(CONNECTED),
      line: (line) => output.out(asJson ? `${JSON.stringify(line)}\n` : tailText(line, style)),
    },
    readerGone.signal,
  );
  return 0;
}
