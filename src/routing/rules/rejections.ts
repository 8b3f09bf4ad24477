import type { Endpoint } from '../../catalog/catalog.ts';
import type { Rejection } from './candidate.ts';

/** Collects rejections. Copies of an endpoint that follow each other and fall to the same rule are one. */
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
