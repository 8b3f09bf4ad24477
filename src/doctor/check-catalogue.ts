import { readOverlay } from '../settings/read-overlay.ts';
import { CatalogOverlayFile } from '../store/directory/catalog-overlay-file.ts';
import { type CheckFinding, fine } from './finding.ts';
import type { Situation } from './situation.ts';

/** Checks that the data of `catalog refresh` can be read. */
export async function checkCatalogue({ directory, runtime }: Situation): Promise<CheckFinding[]> {
  if (directory.kind !== 'there') return [];
  const file = new CatalogOverlayFile(runtime.dataDir);
  if (file.read() === undefined) return [];
  await readOverlay(file);
  return [fine(`${file.path} can be read`)];
}
