/** Blocks of code points that have letters in two cases, as pairs of first and last. No others have. */
const CASED = [
  ...[
    0x41, 0x5ff, 0x10a0, 0x10ff, 0x13a0, 0x13ff, 0x1c80, 0x1fff, 0x2100, 0x218f, 0x24b6, 0x24e9, 0x2c00,
    0x2d2f,
  ],
  ...[0xa640, 0xa7ff, 0xab30, 0xabbf, 0xfb00, 0xfb0f, 0xff21, 0xff5a, 0x10400, 0x105ff, 0x10c80, 0x10dff],
  ...[0x118a0, 0x118df, 0x16e40, 0x16eff, 0x1e900, 0x1e943],
];

/** The dotless and the dotted I are equal to no other letter unless a language says so. */
const ALONE: ReadonlySet<number> = new Set([0x130, 0x131]);

/** Letters that are equal though their other forms have several characters. */
const EQUAL = [
  [0x390, 0x1fd3],
  [0x3b0, 0x1fe3],
  [0xfb05, 0xfb06],
] as const;

interface CaseFolding {
  /** Code points that are equal to others if case is ignored, in order. */
  readonly codes: Int32Array;
  /** For each of these, all that are equal to it, itself included, in order. */
  readonly equals: ReadonlyMap<number, Int32Array>;
}

let known: CaseFolding | undefined;

/** The letters that ECMAScript takes for equal with the flags `iu`. Made by the first use, in some milliseconds. */
export function caseFolding(): CaseFolding {
  known ??= folded();
  return known;
}

function folded(): CaseFolding {
  const groups = new Map<number, Set<number>>();
  for (let block = 0; block < CASED.length; block += 2) {
    for (let code = CASED[block] ?? 0; code <= (CASED[block + 1] ?? 0); code++) {
      if (ALONE.has(code)) continue;
      const character = String.fromCodePoint(code);
      join(groups, code, character.toLowerCase());
      join(groups, code, character.toUpperCase());
    }
  }
  for (const [code, other] of EQUAL) join(groups, code, String.fromCodePoint(other));
  const codes = Int32Array.from(groups.keys()).sort();
  const equals = new Map<number, Int32Array>();
  for (const group of new Set(groups.values())) {
    const members = Int32Array.from(group).sort();
    for (const code of members) equals.set(code, members);
  }
  return { codes, equals };
}

/** Joins the groups of a code point and its other form; a form of several characters is not equal to it. */
function join(groups: Map<number, Set<number>>, code: number, form: string): void {
  const other = form.codePointAt(0) ?? code;
  if (other === code || form.length !== String.fromCodePoint(other).length) return;
  const own = groups.get(code) ?? new Set([code]);
  const others = groups.get(other) ?? new Set([other]);
  const joined = own.size >= others.size ? own : others;
  for (const member of joined === own ? others : own) joined.add(member);
  for (const member of joined) groups.set(member, joined);
}
