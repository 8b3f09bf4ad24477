import type { Catalog } from '../catalog/catalog.ts';
import type { AddedProvider } from '../catalog/model-entries.ts';
import type { LoadedConfiguration } from '../config/load.ts';
import { runInTurns } from '../kit/loop/turns.ts';
import { systemClock } from '../kit/time/clock.ts';
import {
  type CatalogAdditions,
  type DerivedSettings,
  deriveSettings,
  deriveSettingsSliced,
} from './derive-settings.ts';

/**
 * The settings of a running gateway. A reload, new knowledge of models, a stored provider or a dated price replaces
 * them.
 */
export class RunningSettings {
  #loaded: LoadedConfiguration;
  /** Empty until the installation is open. Another object after every change, which shows what was built before it. */
  #additions: CatalogAdditions = {};
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
    let additions: CatalogAdditions;
    do {
      additions = this.#additions;
      settings = await runInTurns(deriveSettingsSliced(loaded, additions));
    } while (additions !== this.#additions);
    this.#loaded = loaded;
    this.#use(settings);
  }

  /** Adds the stored knowledge of models. */
  setKnowledge(known: NonNullable<CatalogAdditions['known']>): void {
    this.#additions = { ...this.#additions, known };
    this.#derive();
  }

  /** Replaces the providers that the operator has added, in slices beside requests. */
  async useProviders(stored: readonly AddedProvider[]): Promise<void> {
    this.#additions = { ...this.#additions, stored };
    await this.#rebuild();
  }

  /** Rebuilds the catalogue after that knowledge changed, in slices beside requests. */
  async rebuildCatalog(): Promise<void> {
    this.#additions = { ...this.#additions };
    await this.#rebuild();
  }

  /** What a reload, or a later change, has overtaken is built again, so that the newest of both is in force. */
  async #rebuild(): Promise<void> {
    for (;;) {
      const [loaded, additions] = [this.#loaded, this.#additions];
      const settings = await runInTurns(deriveSettingsSliced(loaded, additions));
      if (this.#loaded !== loaded || this.#additions !== additions) continue;
      this.#use(settings);
      return;
    }
  }

  #derive(): void {
    this.#use(deriveSettings(this.#loaded, this.#additions));
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
