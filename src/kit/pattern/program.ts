import { RE2JS, RE2JSException } from 're2js';
import { runAtOnce, type Sliced } from '../loop/turns.ts';
import type { PatternLimits } from '../text/linear-pattern.ts';
import { PatternProblem, toRe2 } from '../text/re2-syntax.ts';

export const OP = { jump: 0, split: 1, assert: 2, character: 3, match: 4, fail: 5 } as const;

/** Conditions of assertions on the position between two characters, as bits. */
export const ASSERTS = { beginText: 4, endText: 8, wordBoundary: 16, noWordBoundary: 32 } as const;

/** Code points as pairs of first and last, in order. */
export type CodeRanges = Int32Array;

/** A pattern compiled to the instructions of a nondeterministic automaton. */
export interface Program {
  readonly start: number;
  /** Values of `OP`. */
  readonly ops: Uint8Array;
  /** The instruction after this one; of a split the preferred one. */
  readonly out: Int32Array;
  /** The other branch of a split; the bits of an assertion. */
  readonly arg: Int32Array;
  /** The sets of characters that instructions match, each once. */
  readonly sets: readonly CodeRanges[];
  /** The place of its set, for a `character`. */
  readonly setOf: Uint32Array;
  readonly hasAsserts: boolean;
}

/** A program, or the reason for its refusal in words that fit behind "the pattern". */
export type ProgramCompilation =
  | { readonly ok: true; readonly program: Program }
  | { readonly ok: false; readonly problem: string };

const IGNORES_CASE = /^\(\?i\)/;

/**
 * Compiles a regular expression of ECMAScript (flag `u`), in two slices. A leading `(?i)` ignores the case of it all.
 * Refuses what cannot be matched in linear time, repetitions that are repeated without a bound, and patterns above the
 * limits.
 */
export function* compilingProgram(source: string, limits: PatternLimits): Sliced<ProgramCompilation> {
  try {
    if (source.length > limits.characters) {
      throw new PatternProblem(`is longer than ${limits.characters} characters`);
    }
    const written = IGNORES_CASE.test(source) ? `(?i:${source.replace(IGNORES_CASE, '')})` : source;
    const { text, nestsLoops } = toRe2(written, limits);
    if (nestsLoops) throw new PatternProblem('repeats a repetition without a bound (nested quantifiers)');
    yield;
    return { ok: true, program: programOf(RE2JS.compile(text)) };
  } catch (error) {
    if (error instanceof PatternProblem) return { ok: false, problem: error.message };
    // The syntax is checked by now: what is left are counts that multiply.
    if (error instanceof RE2JSException) return { ok: false, problem: 'is too large' };
    throw error;
  }
}

/** `compilingProgram` without slices. */
export function compileProgram(source: string, limits: PatternLimits): ProgramCompilation {
  return runAtOnce(compilingProgram(source, limits));
}

/** An instruction of `re2js`, whose declarations leave it out. */
interface Re2Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  readonly runes: Int32Array;
}

interface Re2Internals {
  readonly re2Input: { readonly prog: { readonly inst: readonly Re2Instruction[]; readonly start: number } };
}

/** The operations of `re2js` by their numbers. */
const RE2_OPS = [
  OP.fail,
  OP.split,
  OP.split,
  OP.jump,
  OP.assert,
  OP.fail,
  OP.match,
  OP.jump,
  OP.character,
  OP.character,
  OP.character,
  OP.character,
];
const RE2_ANY = 10;
const RE2_ANY_BUT_NEWLINE = 11;
const RE2_FOLD_CASE = 1;

const ANY: CodeRanges = Int32Array.of(0, 0x10ffff);
const ANY_BUT_NEWLINE: CodeRanges = Int32Array.of(0, 9, 11, 0x10ffff);

function programOf(pattern: RE2JS): Program {
  const { inst, start } = (pattern as unknown as Re2Internals).re2Input.prog;
  const ops = Uint8Array.from(inst, ({ op }) => RE2_OPS[op] ?? OP.fail);
  const sets: CodeRanges[] = [];
  const places = new Map<string, number>();
  // Repetitions share their ranges, whose text is long.
  const texts = new Map<Int32Array, string>();
  const setOf = Uint32Array.from(inst, (instruction, pc) => {
    if (ops[pc] !== OP.character) return 0;
    const { op, arg, runes } = instruction;
    const text = texts.get(runes) ?? runes.join();
    texts.set(runes, text);
    const key = `${op} ${arg} ${text}`;
    const place = places.get(key) ?? sets.push(rangesOf(instruction)) - 1;
    places.set(key, place);
    return place;
  });
  return {
    start,
    ops,
    out: Int32Array.from(inst, ({ out }) => out),
    arg: Int32Array.from(inst, ({ arg }) => arg),
    sets,
    setOf,
    hasAsserts: ops.includes(OP.assert),
  };
}

function rangesOf({ op, arg, runes }: Re2Instruction): CodeRanges {
  if (op === RE2_ANY) return ANY;
  if (op === RE2_ANY_BUT_NEWLINE) return ANY_BUT_NEWLINE;
  const [only = -1] = runes;
  if (runes.length !== 1) return runes;
  if ((arg & RE2_FOLD_CASE) === 0) return Int32Array.of(only, only);
  return Int32Array.from(casesOf(only).flatMap((code) => [code, code]));
}

/** A character in both cases, in order. */
function casesOf(code: number): number[] {
  const character = String.fromCodePoint(code);
  const cases = [character, character.toLowerCase(), character.toUpperCase()]
    .filter((form) => [...form].length === 1)
    .map((form) => form.codePointAt(0) ?? code);
  return [...new Set(cases)].sort((left, right) => left - right);
}
