import { NO_OVERLAY, type Overlay, parseOverlay } from '../catalog/knowledge/overlay.ts';
import { runInTurns } from '../kit/loop/turns.ts';
import type { CatalogOverlayFile } from '../store/directory/catalog-overlay-file.ts';
import { DataDirectoryProblem } from '../store/directory/data-directory-problem.ts';

/**
 * Throws for an unreadable overlay instead of ignoring it, because requests would be priced differently without it.
 */
export async function readOverlay(file: CatalogOverlayFile): Promise<Overlay> {
  const text = file.read();
  if (text === undefined) return NO_OVERLAY;
  const reading = await runInTurns(parseOverlay(text));
  if (reading.ok) return reading.overlay;
  throw new DataDirectoryProblem(
    `${file.path} ${reading.problem}; put it back from a backup, or remove it to go back to what ships`,
    false,
  );
}
