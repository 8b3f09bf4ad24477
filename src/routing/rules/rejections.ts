import type { Endpoint } from '../../catalog/catalog.ts';
import type { Rejection } from './candidate.ts';

/** Collects rejections. Candidates of one endpoint that are rejected in succession for the same reason are one. */
export class Rejections {
  readonly #all: Rejection[] = [];

  get all(): readonly Rejection[] {
    return this.#all;
  }

  add(endpoint: Endpoint, filter: string, reason: string): void {
    const last = this.#all.at(-1);
    if (last?.endpoint === endpoint && last.filter === filter && last.reason === reason) return;
    this.#all.push({ endpoint, filter, reason });
  }
}
