import type { Budget } from './budget.ts';
import { type Pattern, parsePattern } from './pattern.ts';

/**
 * Whether a regular expression matches anywhere in a text; undefined where that is beyond us or the budget. All the ways
 * to match are followed side by side, so that no pattern takes for ever.
 */
export function matchesPattern(pattern: string, text: string, budget: Budget): boolean | undefined {
  budget.steps -= text.length + 1;
  const parsed = budget.steps < 0 ? undefined : parsePattern(pattern, budget);
  if (parsed === undefined) return undefined;
  const characters = Array.from(text);
  const everywhere = new Set(Array.from({ length: characters.length + 1 }, (_, place) => place));
  const ends = new Matcher(characters, budget).endsOf(parsed, everywhere);
  return ends === undefined ? undefined : ends.size > 0;
}

type Places = ReadonlySet<number>;

class Matcher {
  readonly #characters: readonly string[];
  readonly #budget: Budget;

  constructor(characters: readonly string[], budget: Budget) {
    this.#characters = characters;
    this.#budget = budget;
  }

  /** Where a match may end that begins at one of `starts`; undefined when it takes too long to say. */
  endsOf(pattern: Pattern, starts: Places): Places | undefined {
    this.#budget.steps -= 1 + starts.size * (pattern.kind === 'character' ? pattern.size : 1);
    if (this.#budget.steps < 0) return undefined;
    switch (pattern.kind) {
      case 'character':
        return new Set([...starts].filter((at) => this.#fits(pattern.matches, at)).map((at) => at + 1));
      case 'place':
        return new Set(
          [...starts].filter((at) => pattern.holds(this.#characters[at - 1], this.#characters[at])),
        );
      case 'sequence':
        return this.#after(pattern.parts, starts);
      case 'choice':
        return this.#either(pattern.options, starts);
      case 'repeat':
        return this.#repeated(pattern, starts);
    }
  }

  #fits(matches: (character: string) => boolean, at: number): boolean {
    const character = this.#characters[at];
    return character !== undefined && matches(character);
  }

  #after(parts: readonly Pattern[], starts: Places): Places | undefined {
    let places: Places | undefined = starts;
    for (const part of parts) {
      if (places === undefined || places.size === 0) break;
      places = this.endsOf(part, places);
    }
    return places;
  }

  #either(options: readonly Pattern[], starts: Places): Places | undefined {
    const places = new Set<number>();
    for (const option of options) {
      const ends = this.endsOf(option, starts);
      if (ends === undefined) return undefined;
      for (const end of ends) places.add(end);
    }
    return places;
  }

  #repeated(pattern: Extract<Pattern, { kind: 'repeat' }>, starts: Places): Places | undefined {
    let frontier: Places | undefined = starts;
    for (let count = 0; count < pattern.least && frontier.size > 0; count++) {
      frontier = this.endsOf(pattern.part, frontier);
      if (frontier === undefined) return undefined;
    }
    const places = new Set(frontier);
    for (let count = pattern.least; count < pattern.most && frontier.size > 0; count++) {
      const ends = this.endsOf(pattern.part, frontier);
      if (ends === undefined) return undefined;
      frontier = new Set([...ends].filter((end) => !places.has(end)));
      for (const end of frontier) places.add(end);
    }
    return places;
  }
}
