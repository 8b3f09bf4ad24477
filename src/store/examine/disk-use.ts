import type { Dir, Dirent } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';

export interface DiskUse {
  readonly kind: string;
  readonly files: number;
  readonly bytes: number;
}

/** Kinds of data by names in the data directory. First match wins. */
const KINDS: readonly (readonly [kind: string, names: RegExp])[] = [
  ['set aside', /\.damaged-/],
  ['database', /^signalbox\.sqlite/],
  ['journal', /^journal$/],
  ['outbox', /^outbox$/],
  ['events', /^events\.duckdb/],
  ['content', /^content$/],
  ['files', /^files$/],
  ['catalogue', /^catalog\.json/],
  ['other', /^/],
];

/** Sums the sizes in a data directory by kind. `isComplete`: false when the signal stopped it. */
export async function diskUse(
  directory: string,
  signal: AbortSignal,
): Promise<{ readonly uses: readonly DiskUse[]; readonly isComplete: boolean }> {
  const sums = new Map(KINDS.map(([kind]) => [kind, { files: 0, bytes: 0 }]));
  for await (const entry of await opendir(directory)) {
    const kind = KINDS.find(([, names]) => names.test(entry.name))?.[0] ?? 'other';
    for await (const bytes of sizesOf(join(directory, entry.name), entry, signal)) {
      const sum = sums.get(kind) ?? { files: 0, bytes: 0 };
      sums.set(kind, { files: sum.files + 1, bytes: sum.bytes + bytes });
    }
  }
  const uses = [...sums].map(([kind, sum]) => ({ kind, ...sum })).filter(({ files }) => files > 0);
  return { uses, isComplete: !signal.aborted };
}

/** Sizes of a file, or of all files below a directory. Skips files that vanish meanwhile, and links. */
async function* sizesOf(path: string, entry: Dirent, signal: AbortSignal): AsyncGenerator<number> {
  if (signal.aborted) return;
  if (entry.isFile()) {
    const status = await lstat(path).catch(() => undefined);
    if (status !== undefined) yield status.size;
    return;
  }
  const below: Dir | undefined = entry.isDirectory() ? await opendir(path).catch(() => undefined) : undefined;
  if (below === undefined) return;
  for await (const inner of below) yield* sizesOf(join(path, inner.name), inner, signal);
}
