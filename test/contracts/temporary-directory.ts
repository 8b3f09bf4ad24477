import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new directory; `remove` deletes it. */
export function temporaryDirectory(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'signalbox-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
