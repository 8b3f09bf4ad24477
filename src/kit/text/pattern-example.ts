/** A compiled pattern as RE2 keeps it: instructions that lead to each other by number. */
export interface Program {
  readonly start: number;
  getInst(at: number): Instruction;
  numInst(): number;
}

interface Instruction {
  readonly op: number;
  /** The instruction after this one. */
  readonly out: number;
  /** The other branch of an alternative; the conditions of a place between two characters, as bits. */
  readonly arg: number;
  /** Ranges of characters, low and high in turn, or one character. */
  readonly runes: ArrayLike<number>;
  matchRune(code: number): boolean;
}

/** Kinds of instructions, by RE2's numbers. Kinds up to `anyButLineEnd` from `rune` on take one character. */
const OP = {
  alternative: 1,
  alternativeMatch: 2,
  place: 4,
  fail: 5,
  match: 6,
  rune: 8,
  anyButLineEnd: 11,
} as const;

const AT_START = 0b0101;
const AT_END = 0b1010;

/** Characters to choose from, the likeliest first. */
const CHARACTERS = Array.from('aA1-_ .zé+\nЯ中€', (character) => character.codePointAt(0) ?? 0);

/** How each instruction that takes the character at one place was reached: from which one at the place before. */
type Layer = ReadonlyMap<number, number>;

/**
 * The shortest text of at least so many characters that leads a program from its start to its end. Follows all ways side by
 * side, a character at a time, and calls `pay` with the number of instructions that each character took. Word boundaries
 * count as met, so the text may still not match.
 */
export function exampleOf(
  program: Program,
  leastLength: number,
  pay: (instructions: number) => void,
): string | undefined {
  const layers: Layer[] = [];
  const longest = leastLength + program.numInst();
  let reached = reach(program, [program.start], true);
  for (let length = 0; length <= longest; length++) {
    pay(reached.instructions);
    if (reached.endsAfter !== undefined && length >= leastLength) {
      return textOf(program, layers, reached.endsAfter);
    }
    if (reached.layer.size === 0) return undefined;
    layers.push(reached.layer);
    reached = reach(program, [...reached.layer.keys()], false);
  }
  return undefined;
}

interface Reached {
  readonly layer: Layer;
  /** The instruction of the layer before from which the end is reached. */
  readonly endsAfter: number | undefined;
  /** Instructions that were looked at. */
  readonly instructions: number;
}

/** What is reached without a character from the program's start, or from behind instructions that took one. */
function reach(program: Program, origins: readonly number[], isStart: boolean): Reached {
  const layer = new Map<number, number>();
  const seen = new Set<number>();
  let endsAfter: number | undefined;
  for (const origin of origins) {
    const open = [{ at: isStart ? origin : program.getInst(origin).out, isEnded: false }];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { at, isEnded } = next;
      const key = at * 2 + Number(isEnded);
      if (seen.has(key)) continue;
      seen.add(key);
      const { op, out, arg } = program.getInst(at);
      if (op === OP.match) endsAfter ??= origin;
      else if (op >= OP.rune && op <= OP.anyButLineEnd) {
        if (!isEnded && !layer.has(at)) layer.set(at, origin);
      } else if (op === OP.alternative || op === OP.alternativeMatch) {
        open.push({ at: arg, isEnded }, { at: out, isEnded });
      } else if (op === OP.place) {
        if (isStart || (arg & AT_START) === 0)
          open.push({ at: out, isEnded: isEnded || (arg & AT_END) !== 0 });
      } else if (op !== OP.fail) open.push({ at: out, isEnded });
    }
  }
  return { layer, endsAfter, instructions: seen.size };
}

function textOf(program: Program, layers: readonly Layer[], last: number): string {
  const characters: string[] = [];
  let at = last;
  for (const layer of layers.toReversed()) {
    characters.push(characterFor(program.getInst(at)));
    at = layer.get(at) ?? 0;
  }
  return characters.toReversed().join('');
}

function characterFor(instruction: Instruction): string {
  const isAny = instruction.runes.length === 0;
  const code = isAny ? CHARACTERS[0] : CHARACTERS.find((candidate) => instruction.matchRune(candidate));
  return String.fromCodePoint(code ?? instruction.runes[0] ?? 0);
}
