import { Budget } from '../../kit/json-schema/budget.ts';

const MOST_STEPS = 40_000;
const MOST_CHECKING = 30_000;
/** About sixteen thousand tokens: real models stop there too. */
const MOST_CHARACTERS = 65_536;
const CHARACTERS_PER_STEP = 16;

/** Thrown when a schema asks for more than its value may cost. */
export class AllowanceSpent extends Error {}

/**
 * What the values of one simulated answer may cost altogether, whatever their schemas ask for. Work is paid for before it
 * is done, so that no answer keeps the others waiting.
 */
export class Allowance extends Budget {
  /** Characters of JSON that may still be written, escapes not counted. */
  characters = MOST_CHARACTERS;
  /** For telling whether values fit: what there are no steps for counts as fitting. */
  readonly checking = new Budget(MOST_CHECKING);

  constructor() {
    super(MOST_STEPS);
  }

  /** Whether enough is left for optional members and second tries. */
  get isAmple(): boolean {
    return this.steps > MOST_STEPS / 2 && this.characters > MOST_CHARACTERS / 2;
  }

  spend(steps: number): void {
    this.steps -= steps;
    if (this.steps < 0) throw new AllowanceSpent();
  }

  write(characters: number): void {
    this.spend(1 + characters / CHARACTERS_PER_STEP);
    this.characters -= characters;
    if (this.characters < 0) throw new AllowanceSpent();
  }
}
