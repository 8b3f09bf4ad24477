import type { Sliced } from '../../../kit/loop/turns.ts';
import { AllMatches } from '../../../kit/pattern/all-matches.ts';
import { contains } from '../../../kit/pattern/alphabet.ts';
import { type CodeRanges, OP, type Program } from '../../../kit/pattern/program.ts';
import { SLICE_WORK } from '../../../kit/pattern/threads.ts';

const SAMPLE_CHARACTERS = 1024;
/** Texts in which parts of many patterns match: prose, a long word, a long number, and blanks. */
const COMMON_SAMPLES = [
  'The report of May 12 names a town, an amount (3.50) and a key. ',
  'aB',
  '4071',
  ' ',
].map(repeated);

/** Sets of characters that samples are made of: those that most instructions read. */
const SAMPLED_SETS = 3;
/** Characters and sets that are looked at for the samples. */
const MAX_CANDIDATES = 64;
const MAX_COMPARED_SETS = 256;
/** Characters that patterns rarely name: they continue a match of a wide set and end one of a narrow set. */
const OTHERS = ['~', 'Q', ' ', '\n', '9'];
/** Work on the text that makes the states, for each unit of the most that may be measured. */
const WARM_UP_SHARE = 4;

/**
 * What a search for a pattern costs for each character of the worst of some samples, in units of work. A pattern such
 * as `.{1000}` has as many open matches as it has repetitions, and each of them takes work for each character. States
 * of the automaton that many texts share are made before it is measured. Ends with the first sample above `most`.
 */
export function* measuringCost(program: Program, most: number): Sliced<number> {
  // Of its own: a search elsewhere that had made some states already would change the verdict.
  const machine = yield* AllMatches.of(program);
  let worst = 0;
  for (const [first, second] of samplesOf(program)) {
    yield* measuring(machine, first, WARM_UP_SHARE * most);
    worst = Math.max(worst, yield* measuring(machine, second, most));
    if (worst > most) break;
  }
  return worst;
}

function* measuring(machine: AllMatches, sample: string, most: number): Sliced<number> {
  const search = machine.search();
  for (let at = 0; at < sample.length && search.work <= most * sample.length; ) {
    at = search.read(sample, 0, sample.length, SLICE_WORK);
    yield;
  }
  return search.work / sample.length;
}

/** Pairs of like samples: one to make the states, and one to measure. */
function* samplesOf(program: Program): Generator<readonly [string, string]> {
  for (const sample of COMMON_SAMPLES) yield [sample, sample];
  const uses = usesOf(program);
  const dearest = [...uses.keys()]
    .filter((set) => (uses[set] ?? 0) > 0)
    .sort((left, right) => (uses[right] ?? 0) - (uses[left] ?? 0));
  const candidates = candidatesOf(dearest.slice(0, MAX_COMPARED_SETS), program, uses);
  for (const set of dearest.slice(0, SAMPLED_SETS)) {
    const ranges = program.sets[set] ?? new Int32Array();
    const member = memberOf(ranges, candidates);
    const outsider =
      OTHERS.find((character) => !contains(ranges, character.charCodeAt(0))) ??
      candidates.find((candidate) => !contains(ranges, candidate.codePointAt(0) ?? 0));
    const prefix = prefixTo(set, program, candidates);
    const broken = repeated(member.repeat(Math.min(SAMPLE_CHARACTERS, uses[set] ?? 1)) + (outsider ?? ''));
    for (const sample of new Set([repeated(member), broken, repeated(prefix)])) yield [sample, sample];
    const rarest = OTHERS.find((character) => contains(ranges, character.charCodeAt(0))) ?? member;
    for (const pieces of [
      [prefix, rarest],
      [prefix, member, rarest, outsider ?? member],
    ]) {
      yield [mixed(pieces, 7), mixed(pieces, 11)];
    }
  }
}

/** For each set the number of instructions that read it. */
function usesOf({ ops, setOf, sets }: Program): number[] {
  const uses = new Array<number>(sets.length).fill(0);
  for (let pc = 0; pc < ops.length; pc++) {
    if (ops[pc] === OP.character) uses[setOf[pc] ?? 0] = (uses[setOf[pc] ?? 0] ?? 0) + 1;
  }
  return uses;
}

/** Characters, those that most instructions read first. */
function candidatesOf(compared: readonly number[], { sets }: Program, uses: readonly number[]): string[] {
  const codes = new Set<number>();
  for (const set of compared) {
    const ranges = sets[set] ?? [];
    for (let at = 0; at < ranges.length && codes.size < MAX_CANDIDATES; at += 2) codes.add(ranges[at] ?? 0);
  }
  const readers = (code: number) =>
    compared.reduce((sum, set) => sum + (contains(sets[set] as CodeRanges, code) ? (uses[set] ?? 0) : 0), 0);
  return Array.from(codes, (code) => ({ code, readers: readers(code) }))
    .sort((left, right) => right.readers - left.readers)
    .map(({ code }) => String.fromCodePoint(code));
}

function memberOf(ranges: CodeRanges, candidates: readonly string[]): string {
  const known = candidates.find((candidate) => contains(ranges, candidate.codePointAt(0) ?? 0));
  return known ?? String.fromCodePoint(ranges[0] ?? 0);
}

/** A shortest text that leads from the start of a program to an instruction that reads a set, and a member of it. */
function prefixTo(set: number, program: Program, candidates: readonly string[]): string {
  const { start, ops, out, arg, sets, setOf } = program;
  const seen = new Uint8Array(ops.length);
  let reached: { readonly pc: number; readonly text: string }[] = [{ pc: start, text: '' }];
  while (reached.length > 0) {
    const next: typeof reached = [];
    for (let place = reached.pop(); place !== undefined; place = reached.pop()) {
      const { pc, text } = place;
      if (seen[pc] === 1) continue;
      seen[pc] = 1;
      if (ops[pc] === OP.character) {
        const read = setOf[pc] ?? 0;
        const longer = text + memberOf(sets[read] ?? new Int32Array(), candidates);
        if (read === set) return longer;
        next.push({ pc: out[pc] ?? 0, text: longer });
      } else if (ops[pc] === OP.split) {
        reached.push({ pc: arg[pc] ?? 0, text }, { pc: out[pc] ?? 0, text });
      } else if (ops[pc] === OP.jump || ops[pc] === OP.assert) reached.push({ pc: out[pc] ?? 0, text });
    }
    reached = next;
  }
  throw new Error('no instruction reads the set');
}

function repeated(piece: string): string {
  return piece.repeat(Math.ceil(SAMPLE_CHARACTERS / piece.length)).slice(0, SAMPLE_CHARACTERS);
}

/** The pieces in an order that does not repeat. */
function mixed(pieces: readonly string[], seed: number): string {
  let text = '';
  for (let random = seed; text.length < SAMPLE_CHARACTERS; random = (random * 48271) % 2147483647) {
    text += pieces[(random >> 8) % pieces.length];
  }
  return text.slice(0, SAMPLE_CHARACTERS);
}
