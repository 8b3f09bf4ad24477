import type { DuckdbThread } from './duckdb-thread.ts';

/** The apps of the file by their place in it, as far as they were asked for. Places are given in turn and for good. */
export class KnownApps {
  readonly #apps: string[] = [];

  /** The apps at places that the file has. Those that are not known yet are read from it, all at once. */
  async at(places: ArrayLike<number>, thread: DuckdbThread, signal?: AbortSignal): Promise<string[]> {
    if (!this.#knows(places)) await this.#read(thread, signal);
    return Array.from(places, (place) => this.#apps[place] ?? '');
  }

  #knows(places: ArrayLike<number>): boolean {
    for (let index = 0; index < places.length; index++) {
      if (this.#apps[places[index] ?? 0] === undefined) return false;
    }
    return true;
  }

  async #read(thread: DuckdbThread, signal?: AbortSignal): Promise<void> {
    const known = BigInt(this.#apps.length);
    const sql = 'SELECT place, app FROM apps WHERE place >= $known::BIGINT';
    const [places = [], apps = []] = await thread.columns({ sql, parameters: { known } }, signal);
    for (let index = 0; index < places.length; index++) {
      this.#apps[Number(places[index])] = String(apps[index]);
    }
  }
}
