import type { Model } from '../../catalog/catalog.ts';

/**
 * Suffixes of a model id that say how to route to it. `:free`, `:extended` and `:thinking` are models of their own.
 */
export type Variant = 'nitro' | 'floor' | 'exacto';

/** A model that a request is to be answered by, in the place it has among others. */
export interface RoutedModel {
  /** The id that it was asked for by: its own, an alias, a router's. */
  readonly name: string;
  readonly model: Model;
  readonly variants: readonly Variant[];
}
