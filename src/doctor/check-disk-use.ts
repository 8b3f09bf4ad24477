import { countText } from '../kit/text/count-text.ts';
import { bytesText } from '../kit/text/quantities.ts';
import { diskUse } from '../store/examine/disk-use.ts';
import { type CheckFinding, fine } from './finding.ts';
import type { Situation } from './situation.ts';

/** Time limit; the count is then reported as a lower bound, milliseconds. */
const COUNTING_MS = 5_000;

export async function checkDiskUse({ runtime, directory }: Situation): Promise<CheckFinding[]> {
  if (directory.kind !== 'there') return [];
  const { uses, isComplete } = await diskUse(runtime.dataDir, AbortSignal.timeout(COUNTING_MS));
  const bytes = uses.reduce((sum, use) => sum + use.bytes, 0);
  const files = uses.reduce((sum, use) => sum + use.files, 0);
  const kinds = uses.map((use) => `${use.kind} ${bytesText(use.bytes)} (${use.files})`);
  const figures = uses.map(({ kind, ...use }) => [
    [`${kind.replaceAll(' ', '_')}_bytes`, use.bytes],
    [`${kind.replaceAll(' ', '_')}_files`, use.files],
  ]);
  const extent = isComplete ? '' : 'at least ';
  return [
    fine(`${extent}${bytesText(bytes)} in ${countText(files, 'file')}: ${kinds.join(', ')}`, {
      bytes,
      files,
      ...Object.fromEntries(figures.flat()),
    }),
  ];
}
