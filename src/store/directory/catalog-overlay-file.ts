import { join } from 'node:path';
import type { CatalogOverlayStore } from '../../ports/installation/catalog-overlay.ts';
import { readIfExists, replaceFile } from './atomic-files.ts';

export class CatalogOverlayFile implements CatalogOverlayStore {
  readonly path: string;
  readonly maxBytes = 32_000_000;

  constructor(directory: string) {
    this.path = join(directory, 'catalog.json');
  }

  read(): string | undefined {
    return readIfExists(this.path, this.maxBytes)?.toString('utf8');
  }

  write(text: string): void {
    replaceFile(this.path, text);
  }
}
