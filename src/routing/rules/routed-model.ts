import type { Model } from '../../catalog/catalog.ts';

/**
 * Routing suffixes of a model id. `:free`, `:extended` and `:thinking` are not among them: they name other models.
 */
export type Variant = 'nitro' | 'floor' | 'exacto';

export interface RoutedModel {
  /** The id in the request: its own, an alias, or a router's. */
  readonly name: string;
  readonly model: Model;
  readonly variants: readonly Variant[];
}
