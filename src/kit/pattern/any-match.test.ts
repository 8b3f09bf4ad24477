import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../loop/turns.ts';
import { AnyMatch } from './any-match.ts';
import { compileProgram } from './program.ts';

const SOURCES = ['a+b', 'b.a', '\\bab\\b', '^a', 'b$', '[^ab]a{2,3}', '(?i)AB 1', 'a\\B', '😀+b', 'x'];

const programs = SOURCES.map((source) => {
  const compilation = compileProgram(source, { characters: 1000, size: 2500, translated: 10_000 });
  if (!compilation.ok) throw new Error(compilation.problem);
  return compilation.program;
});
const machine = runAtOnce(AnyMatch.of(programs));
const natives = SOURCES.map((source) =>
  source.startsWith('(?i)') ? new RegExp(source.slice(4), 'iu') : new RegExp(source, 'u'),
);

describe('AnyMatch', () => {
  it('says for each pattern whether it matches, however the text is cut', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'B', '1', ' ', '\n', '😀'), maxLength: 20 });
    fc.assert(
      fc.property(texts, fc.nat(20), (text, cut) => {
        const run = machine.start();
        const middle = /[\udc00-\udfff]/.test(text[cut] ?? '') ? 0 : Math.min(cut, text.length);
        run.read(text, 0, middle);
        run.read(text, middle, text.length);
        run.end();
        expect([...run.matched]).toEqual(natives.map((native) => (native.test(text) ? 1 : 0)));
      }),
      { numRuns: 800 },
    );
  });

  it('gives up a text that needs too many states, and then rules out nothing', () => {
    const compilation = compileProgram('a.{16}b', { characters: 1000, size: 2500, translated: 10_000 });
    if (!compilation.ok) throw new Error(compilation.problem);
    const run = runAtOnce(AnyMatch.of([compilation.program, ...programs])).start();
    let text = '';
    for (let seed = 1; text.length < 60_000; seed = (seed * 48271) % 2147483647) text += seed % 2 ? 'a' : 'b';
    run.read(text, 0, text.length);
    run.end();
    expect([...run.matched]).toEqual([...run.matched].fill(1));
  });
});
