import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDataDirectory } from '../../../src/store/directory/data-directory.ts';

/** A new directory; `remove` deletes it. */
export function temporaryDirectory(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'signalbox-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Makes a directory one in which a gateway has kept data, as commands without a gateway require. */
export function makeDataDirectory(path: string): string {
  openDataDirectory(path).close();
  return path;
}
