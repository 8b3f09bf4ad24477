import { configurationErrorOf, type LoadedConfiguration } from '../config/load.ts';
import type { Log } from '../kit/log/log.ts';
import { DeclarationConflict } from '../manage/declared/conflicts.ts';
import { isDatabaseAway } from '../store/sql/database-unavailable.ts';
import type { Installation } from './installation.ts';

/** Stores the workspaces of the configuration file, at the start and after every reload. */
export class DeclaredFile {
  readonly #installation: Pick<Installation, 'declarations' | 'whenDatabaseUp'>;
  readonly #inForce: () => LoadedConfiguration;
  readonly #log: Log;

  /** `inForce`: the configuration in force. */
  constructor(
    installation: Pick<Installation, 'declarations' | 'whenDatabaseUp'>,
    inForce: () => LoadedConfiguration,
    log: Log,
  ) {
    this.#installation = installation;
    this.#inForce = inForce;
    this.#log = log;
  }

  /** Waits for the database. Rejects with a ConfigurationError if the file contradicts what is stored. */
  async applyFirst(): Promise<void> {
    await this.#installation.whenDatabaseUp(() => this.#apply(this.#inForce()));
  }

  /**
   * Rejects with a ConfigurationError, so that the running configuration stays. If the database does not answer, the
   * file is taken into use without its workspaces, and they follow when it does.
   */
  async apply(next: LoadedConfiguration): Promise<void> {
    try {
      await this.#apply(next);
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      this.#log.warn('workspaces of the configuration file are stored when the database answers');
      this.applyFirst().catch((error) => {
        this.#log.error('workspaces of the configuration file were not stored', { error });
      });
    }
  }

  /** Without a file nothing is released: an installation started elsewhere by mistake keeps its keys. */
  async #apply({ config, file }: LoadedConfiguration): Promise<void> {
    if (file === undefined) return;
    try {
      const changes = await this.#installation.declarations.apply(config);
      const { created, updated, released } = changes;
      if (created + updated + released === 0) return;
      this.#log.info('workspaces of the configuration file were stored', { created, updated, released });
    } catch (error) {
      if (error instanceof DeclarationConflict) throw configurationErrorOf(error.problems, file);
      throw error;
    }
  }
}
