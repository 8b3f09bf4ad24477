import type { Pattern } from './pattern.ts';

/** Work that is left before something has to be left undone. A step is small: a keyword, a name, a character of a pattern. */
export class Budget {
  steps: number;
  /** The patterns that were taken apart before; undefined for those that are beyond us. */
  readonly patterns = new Map<string, Pattern | undefined>();

  constructor(steps: number) {
    this.steps = steps;
  }
}
