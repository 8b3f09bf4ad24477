import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../loop/turns.ts';
import { AllMatches } from './all-matches.ts';
import { compileProgram } from './program.ts';

const LIMITS = { characters: 1000, size: 2500, translated: 10_000 };

function machineOf(source: string): AllMatches {
  const compilation = compileProgram(source, LIMITS);
  if (!compilation.ok) throw new Error(`${source} ${compilation.problem}`);
  return runAtOnce(AllMatches.of(compilation.program));
}

function matchesOf(machine: AllMatches, text: string, cuts: readonly number[] = []): string[] {
  const search = machine.search();
  for (const cut of cuts) search.read(text, 0, cut);
  search.read(text, 0, text.length);
  search.end();
  const found: string[] = [];
  for (let at = 0; at < search.matches.length; at += 2) {
    found.push(`${search.matches[at]}-${search.matches[at + 1]}`);
  }
  return found;
}

/** Small patterns over a small alphabet, so that texts match often enough. No part matches the empty text. */
const patterns: fc.Arbitrary<string> = fc
  .letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { depthSize: 'small', maxDepth: 4 },
      fc.constantFrom('a', 'b', 'ab', '.', '[ab]', '[^a]', '\\d', '\\ba', 'b\\b', 'a\\B', '^a', 'b$', '😀'),
      fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => one + other),
      fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => `(?:${one}|${other})`),
      fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => `${one}(?:${other})*`),
      fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => `${one}(?:${other})*?${one}`),
      fc
        .tuple(tie('pattern'), fc.constantFrom('+', '{2}', '{1,2}', '{1,3}?', '+?'))
        .map(([part, times]) => `(${part})${times}`),
    ),
  }))
  .pattern.filter((source) => compileProgram(source, LIMITS).ok);

const texts = fc.string({ unit: fc.constantFrom('a', 'b', '1', ' ', '\n', '😀'), maxLength: 24 });

describe('AllMatches', () => {
  it('finds what String.matchAll finds, however the text is cut', () => {
    fc.assert(
      fc.property(patterns, texts, fc.array(fc.nat(24), { maxLength: 4 }), (source, text, raw) => {
        const expected = Array.from(
          text.matchAll(new RegExp(source, 'gu')),
          (match) => `${match.index}-${match.index + match[0].length}`,
        );
        const cuts = raw.filter((cut) => cut <= text.length && !isInPair(text, cut)).sort((x, y) => x - y);
        expect(matchesOf(machineOf(source), text, cuts)).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('holds exactly what later characters may still make part of a match', () => {
    const search = machineOf('secret.*end').search();
    const read = (text: string) => {
      whole += text;
      search.read(whole, 0, whole.length);
      return search.hold;
    };
    let whole = '';
    expect(read('a sec')).toBe(2);
    expect(read('x')).toBe(6);
    expect(read(' secret is')).toBe(7);
    expect(read(' the end')).toBe(7);
    expect([search.settled, search.matches]).toEqual([0, [7, 24]]);
    expect(read(' of it\n')).toBe(31);
    expect([search.settled, search.matches]).toEqual([2, [7, 24]]);
  });

  it('settles a match with the character that ends it', () => {
    const search = machineOf('foo').search();
    search.read('foo', 0, 3);
    expect([search.hold, search.settled]).toEqual([3, 2]);
  });

  it('reads every character once, where matching again from each match would be quadratic', () => {
    const machine = machineOf('a(.*b)?');
    const time = (length: number) => {
      const text = 'a'.repeat(length);
      const start = process.cpuUsage().user;
      expect(matchesOf(machine, text)).toHaveLength(length);
      return process.cpuUsage().user - start;
    };
    time(20_000);
    const short = time(20_000);
    expect(time(160_000)).toBeLessThan(30 * Math.max(short, 2000));
  });

  it('matches patterns with more states than it keeps', () => {
    const machine = machineOf('a.{12}b');
    let text = '';
    for (let seed = 1; text.length < 20_000; seed = (seed * 48271) % 2147483647) text += seed % 2 ? 'a' : 'b';
    const expected = Array.from(text.matchAll(/a.{12}b/g), ({ index }) => `${index}-${index + 14}`);
    expect(matchesOf(machine, text)).toEqual(expected);
  });
});

function isInPair(text: string, index: number): boolean {
  return /[\ud800-\udbff]/.test(text[index - 1] ?? '') && /[\udc00-\udfff]/.test(text[index] ?? '');
}

it('stops after its work on open matches, in states that are known', () => {
  const machine = machineOf('a{1,1000}b');
  const text = 'a'.repeat(3000);
  const search = machine.search();
  const slices: number[] = [];
  for (let at = search.read(text, 0, 2000); at < text.length; ) {
    const before = search.work;
    at = search.read(text, 0, text.length, 20_000);
    slices.push(search.work - before);
  }
  expect(slices.length).toBeGreaterThan(10);
  expect(Math.max(...slices)).toBeLessThan(25_000);
});

it('stops early where many matches are open, with known steps too', () => {
  const machine = machineOf('a{500}');
  const text = 'a'.repeat(1000);
  const read = () => {
    const search = machine.search();
    let slices = 0;
    for (let at = 0; at < text.length; slices++) at = search.read(text, 0, text.length, 1000);
    search.end();
    expect(search.matches).toEqual([0, 500, 500, 1000]);
    return slices;
  };
  expect(read()).toBeGreaterThan(10);
  expect(read()).toBeGreaterThan(10);
});
