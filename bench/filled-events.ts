import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GenerationEvent } from '../src/ports/events/events.ts';
import { DuckdbEventStore } from '../src/store/events/duckdb/event-store.ts';
import { writeFilledBundle } from '../test/kit/builders/filled-bundle.ts';

const MEGABYTE = 1_000_000;

/**
 * Asks an embedded event store that holds a history. It is filled in a folder of its own, which is removed afterwards;
 * with BENCH_DATA=FOLDER in that folder, where the next run finds it filled.
 */
export async function withFilledEvents(
  fileName: string,
  history: () => Iterable<GenerationEvent>,
  ask: (events: DuckdbEventStore) => Promise<void>,
): Promise<void> {
  const kept = process.env.BENCH_DATA;
  const directory = kept ?? mkdtempSync(join(tmpdir(), 'signalbox-bench-'));
  const file = join(directory, fileName);
  const isFilled = existsSync(file);
  const events = new DuckdbEventStore(file);
  try {
    if (!isFilled) await fill(events, join(directory, 'bundle.duckdb'), history());
    const { events: stored, bytes } = await events.sizes();
    console.log(`${stored} events in ${Math.round(bytes / MEGABYTE)} MB; load ${load()}`);
    await ask(events);
    console.log(`load at the end ${load()}`);
  } finally {
    await events.close();
    if (kept === undefined) rmSync(directory, { recursive: true });
  }
}

async function fill(
  events: DuckdbEventStore,
  bundle: string,
  history: Iterable<GenerationEvent>,
): Promise<void> {
  await writeFilledBundle(bundle, history);
  await events.addBundle({ file: bundle });
  rmSync(bundle);
}

function load(): string | undefined {
  return loadavg()[0]?.toFixed(1);
}
