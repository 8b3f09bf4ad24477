import type { Catalog, Model, Provider } from './catalog.ts';

/** How a catalogue differs from another. */
export interface LayerParts {
  readonly base: Catalog;
  readonly providers: readonly Provider[];
  /** Whether a model of the base may be another one here, or none. */
  readonly isChanged: (model: Model) => boolean;
  /** The ids of models that have other names here, by id and alias: the base may lack them. */
  readonly names: ReadonlyMap<string, string>;
  /** Makes a model that is not that of the base; undefined if there is none. */
  readonly make: (id: string) => Model | undefined;
  readonly withEveryProvider: () => Catalog;
}

/**
 * A catalogue over another one: it makes the models that differ when they are asked for, and shares the others, so that
 * it costs little however many models there are.
 */
export class CatalogLayer implements Catalog {
  readonly providers: readonly Provider[];
  readonly withEveryProvider: () => Catalog;
  readonly #parts: LayerParts;
  readonly #made = new Map<string, Model | undefined>();
  #models: readonly Model[] | undefined;

  constructor(parts: LayerParts) {
    this.#parts = parts;
    this.providers = parts.providers;
    this.withEveryProvider = parts.withEveryProvider;
  }

  get models(): readonly Model[] {
    this.#models ??= this.#list();
    return this.#models;
  }

  readonly resolve = (name: string): Model | undefined => {
    const { base, names } = this.#parts;
    const found = base.resolve(name);
    const seen = found?.id === name || !names.has(name) ? found && this.#seen(found) : undefined;
    if (seen !== undefined) return seen;
    const id = names.get(name);
    const own = id === undefined ? undefined : this.#madeOf(id);
    if (own !== undefined && (own.id === name || own.aliases.includes(name))) return own;
    return found && this.#seen(found);
  };

  #seen(model: Model): Model | undefined {
    return this.#parts.isChanged(model) ? this.#madeOf(model.id) : model;
  }

  #madeOf(id: string): Model | undefined {
    const { base, make } = this.#parts;
    if (this.#made.has(id)) return this.#made.get(id);
    const made = make(id);
    // That a model of the base is not here is quickly found again.
    if (made !== undefined || base.resolve(id) === undefined) this.#made.set(id, made);
    return made;
  }

  #list(): readonly Model[] {
    const { base, names } = this.#parts;
    const kept: Model[] = [];
    for (const model of base.models) {
      const seen = this.#seen(model);
      if (seen !== undefined) kept.push(seen);
    }
    const others = [...new Set(names.values())].flatMap((id) =>
      base.resolve(id)?.id === id ? [] : (this.#madeOf(id) ?? []),
    );
    return others.length === 0 ? kept : [...kept, ...others].sort(byId);
  }
}

export function byId({ id: one }: Model, { id: other }: Model): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
