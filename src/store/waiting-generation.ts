import type { JsonObject } from '../kit/json.ts';
import type { StoredGeneration } from '../ports/generations.ts';
import { rowText } from './row-text.ts';

/**
 * A settled generation that waits for its row. What is kept of it is one text: its objects would outlive two collections of
 * young memory, and what does makes collections of all memory more frequent.
 */
export class WaitingGeneration implements StoredGeneration {
  readonly id: StoredGeneration['id'];
  readonly scopes: StoredGeneration['scopes'];
  readonly settledAtMs: StoredGeneration['settledAtMs'];
  readonly charge: StoredGeneration['charge'];
  readonly writtenOffNanos: StoredGeneration['writtenOffNanos'];
  readonly #rowText: string;

  constructor(generation: StoredGeneration) {
    this.id = generation.id;
    this.scopes = generation.scopes;
    this.settledAtMs = generation.settledAtMs;
    this.charge = generation.charge;
    this.writtenOffNanos = generation.writtenOffNanos;
    this.#rowText = rowText(generation.row);
  }

  /** Made anew each time: nearly nobody asks so soon. */
  get row(): JsonObject {
    return JSON.parse(this.#rowText) as JsonObject;
  }

  /** What is kept of a generation as JSON. */
  static rowTextOf(generation: StoredGeneration): string {
    return generation instanceof WaitingGeneration ? generation.#rowText : rowText(generation.row);
  }
}
