import type { CatalogSource } from '../catalog/build-catalog.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { LoadedConfiguration } from '../config/load.ts';
import { runInTurns } from '../kit/loop/turns.ts';
import { systemClock } from '../kit/time/clock.ts';
import { type DerivedSettings, deriveSettings, deriveSettingsSliced } from './derive-settings.ts';

/** The settings of a running gateway. A reload, new knowledge of models or a dated price replaces them. */
export class RunningSettings {
  #loaded: LoadedConfiguration;
  /** Facts about models from `catalog refresh`; undefined until the installation is open. */
  #known: CatalogSource['known'];
  /** Counts changes of that knowledge: a reload that one of them overtakes begins again. */
  #knowledgeChanges = 0;
  #settings: DerivedSettings;
  #onCatalog: ((catalog: Catalog) => void) | undefined;

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

  /** Takes a reloaded configuration into use; derives everything in slices beside requests before. */
  async reload(loaded: LoadedConfiguration): Promise<void> {
    let settings: DerivedSettings;
    let changes: number;
    do {
      changes = this.#knowledgeChanges;
      settings = await runInTurns(deriveSettingsSliced(loaded, this.#known));
    } while (changes !== this.#knowledgeChanges);
    this.#loaded = loaded;
    this.#use(settings);
  }

  /** Adds the stored knowledge of models. */
  setKnowledge(known: NonNullable<CatalogSource['known']>): void {
    this.#known = known;
    this.#knowledgeChanges++;
    this.#derive();
  }

  /**
   * Rebuilds the catalogue after that knowledge changed, in slices beside requests. Discarded if a reload has built
   * another one meanwhile.
   */
  async rebuildCatalog(): Promise<void> {
    const loaded = this.#loaded;
    this.#knowledgeChanges++;
    const settings = await runInTurns(deriveSettingsSliced(loaded, this.#known));
    if (this.#loaded === loaded) this.#use(settings);
  }

  #derive(): void {
    this.#use(deriveSettings(this.#loaded, this.#known));
  }

  /** Calls the listener with the catalogue in force, now and whenever another one replaces it. */
  watchCatalog(listener: (catalog: Catalog) => void): void {
    this.#onCatalog = listener;
    listener(this.#settings.gateway.catalog);
  }

  #use(settings: DerivedSettings): void {
    this.#settings = settings;
    this.#onCatalog?.(settings.gateway.catalog);
  }
}
