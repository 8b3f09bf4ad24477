import type { AppTotals, DayWindow } from '../../../ports/events.ts';

/** Answers that are remembered. */
const MOST_ANSWERS = 8;

/** Apps in all of them together: more would take more memory than they save time. */
const MOST_APPS = 400_000;

interface Remembered {
  readonly windows: readonly DayWindow[];
  /** Undefined while it is being looked for. */
  readonly totals: AppTotals | undefined;
}

/**
 * What was last found of apps. Most windows are of days that are over, and what was used on them changes no more; what does
 * change is forgotten.
 */
export class AppTotalsMemory {
  /** By windows, the one unused longest first. */
  readonly #answers = new Map<string, Remembered>();

  /** What is remembered, or else what is looked for, remembered unless it may have changed meanwhile. */
  async of(windows: readonly DayWindow[], look: () => Promise<AppTotals>): Promise<AppTotals> {
    const key = windows.map(({ startMs, endMs }) => `${startMs}-${endMs}`).join();
    const known = this.#answers.get(key)?.totals;
    if (known !== undefined) {
      this.#remember(key, { windows, totals: known });
      return known;
    }
    const looking: Remembered = { windows, totals: undefined };
    this.#remember(key, looking);
    const totals = await look();
    const isRoom = totals.apps.length <= MOST_APPS;
    if (isRoom && this.#answers.get(key) === looking) this.#remember(key, { windows, totals });
    return totals;
  }

  /** Events of these moments were added, or may have been. */
  changed(firstMs: number, lastMs: number): void {
    for (const [key, { windows }] of this.#answers) {
      if (windows.some(({ startMs, endMs }) => startMs <= lastMs && firstMs < endMs))
        this.#answers.delete(key);
    }
  }

  #remember(key: string, answer: Remembered): void {
    this.#answers.delete(key);
    this.#answers.set(key, answer);
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= MOST_ANSWERS && this.#apps() <= MOST_APPS) return;
      this.#answers.delete(oldest);
    }
  }

  #apps(): number {
    let apps = 0;
    for (const { totals } of this.#answers.values()) apps += totals?.apps.length ?? 0;
    return apps;
  }
}
