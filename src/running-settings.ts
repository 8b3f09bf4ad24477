import { buildCatalogSliced, type CatalogSource } from './catalog/build-catalog.ts';
import type { LoadedConfiguration } from './config/load.ts';
import { runInTurns } from './kit/loop/turns.ts';
import { systemClock } from './kit/time/clock.ts';
import { catalogSourceOf, type DerivedSettings, deriveSettings } from './settings.ts';

/** The settings of a running gateway. A reload, new knowledge of models or a dated price replaces them. */
export class RunningSettings {
  #loaded: LoadedConfiguration;
  /** What `catalog refresh` brought in about models; undefined until the installation is open. */
  #known: CatalogSource['known'];
  #settings: DerivedSettings;

  constructor(loaded: LoadedConfiguration) {
    this.#loaded = loaded;
    this.#settings = deriveSettings(loaded);
  }

  /** The settings as last derived. */
  get latest(): DerivedSettings {
    return this.#settings;
  }

  /** As `latest`, with a new catalogue if a dated price has taken effect since. */
  get current(): DerivedSettings {
    const { dueAtMs } = this.#settings.gateway.catalog;
    if (dueAtMs !== undefined && systemClock.now() >= dueAtMs) this.#derive();
    return this.#settings;
  }

  /** Takes a reloaded configuration into use. */
  reload(loaded: LoadedConfiguration): void {
    this.#settings = deriveSettings(loaded, this.#known);
    this.#loaded = loaded;
  }

  /** Adds the stored knowledge of models. */
  setKnowledge(known: NonNullable<CatalogSource['known']>): void {
    this.#known = known;
    this.#derive();
  }

  /**
   * Rebuilds the catalogue after that knowledge changed, in slices beside requests. Discarded if a reload has built
   * another one meanwhile.
   */
  async rebuildCatalog(): Promise<void> {
    const loaded = this.#loaded;
    const catalog = await runInTurns(buildCatalogSliced(catalogSourceOf(loaded, this.#known)));
    if (this.#loaded === loaded) this.#settings = deriveSettings(loaded, this.#known, catalog);
  }

  #derive(): void {
    this.#settings = deriveSettings(this.#loaded, this.#known);
  }
}
