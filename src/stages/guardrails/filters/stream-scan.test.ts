import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appliedFilters, REDACTING_BUILTINS } from '../../../../test/kit/builders/guardrails.ts';
import type { CustomFilter } from '../../../ports/tenancy/guardrails.ts';
import { compileFilters, type FilterSet } from './filter-set.ts';
import { redacted } from './finding.ts';

const ANSWER = { role: 'assistant', direction: 'received' } as const;

const redact = (pattern: string, label: string | null = null): CustomFilter => ({
  pattern,
  label,
  action: 'redact',
});

/** Bounded and unbounded ones, with assertions, with characters beyond ASCII and beyond 16 bits. */
const PATTERNS = [
  ...[
    'ab',
    'a+b',
    'a.*b',
    'a[^]*?1',
    '\\bab\\b',
    '^a',
    'b$',
    'é',
    'e\\b',
    '[éê]+a',
    'fi',
    'k',
    '😀+',
    'a😀|b',
    '\\d{2,3}',
  ],
  ...['e', '[^a]b', '(?:ab|ba){2}', 'a?b?1', '(?i)AB', '가|각', 'が', '\\w+@', ' +', '.'],
];
/** Marks that join, characters that fall apart, invisible ones, and halves of pairs. */
const UNITS = [
  ...[
    'a',
    'b',
    'e',
    '1',
    '2',
    ' ',
    '@',
    '.',
    '-',
    '\n',
    'é',
    '\u0301',
    '\u0302',
    '\u0323',
    '\u200b',
    '\u00ad',
    'ﬁ',
  ],
  ...['ａ', '①', 'K', '😀', '\ud83d', '\ude00', '가', '\u11a8', 'か', '\u3099', 'ab', 'a1b', 'a@b.org'],
];

/** Of a text in pieces: all that leaves, and the most that was held back after a piece. */
function stream(filters: FilterSet, pieces: readonly string[]): { text: string; count: number } {
  const scan = filters.stream(ANSWER);
  let text = '';
  let count = 0;
  for (const piece of pieces) {
    const { release, findings } = scan.push(piece);
    text += release;
    count += findings.length;
  }
  const { release, findings } = scan.end();
  return { text: text + release, count: count + findings.length };
}

describe('StreamScan', () => {
  it('lets leave what redacting the whole text leaves, whatever the patterns and cuts', () => {
    const patterns = fc.uniqueArray(fc.constantFrom(...PATTERNS), { maxLength: 3 });
    const pieces = fc.array(fc.string({ unit: fc.constantFrom(...UNITS), maxLength: 5 }), { maxLength: 8 });
    fc.assert(
      fc.property(patterns, fc.boolean(), pieces, (sources, hasBuiltins, given) => {
        const filters = compileFilters([
          appliedFilters({
            builtins: hasBuiltins ? REDACTING_BUILTINS : [],
            filters: sources.map((source) => redact(source, source)),
          }),
        ]);
        const whole = given.join('');
        const findings = filters.scan(whole, ANSWER);
        expect(stream(filters, given)).toEqual({ text: redacted(whole, findings), count: findings.length });
      }),
      // Halves of a pair with something invisible between them are two characters, whatever the cut.
      { numRuns: 1500, examples: [[['.'], false, ['\ud83d\u200b', '\ude00']]] },
    );
  });

  it('takes as many matches at once as come', () => {
    const filters = compileFilters([appliedFilters({ filters: [redact('a', 'a')] })]);
    expect(stream(filters, ['a'.repeat(150_000)])).toEqual({ text: '[a]'.repeat(150_000), count: 150_000 });
  });

  it('does so for personal data', () => {
    const units = [
      'a',
      'f',
      '@',
      '.',
      'b.org',
      'joe@',
      ' ',
      '-',
      '+1',
      '(',
      ')',
      '555',
      '123',
      '4567',
      '45',
      '6789',
      ':',
      '::1',
    ];
    const more = [
      ...['4111', '1111', '4111111111111111', '1', '10.0.0.', 'ü', 'x', '\u200b', '5', '-\n', '\r\n', '\n'],
      ...['%40', '%', '4', '&', '#', '64;', '&#64;', '&#x40;', 'commat;', '\u0664', '\u0665\u0665'],
    ];
    const pieces = fc.array(fc.string({ unit: fc.constantFrom(...units, ...more), maxLength: 6 }), {
      maxLength: 8,
    });
    const filters = compileFilters([appliedFilters({ builtins: REDACTING_BUILTINS })]);
    fc.assert(
      fc.property(pieces, (given) => {
        const whole = given.join('');
        const findings = filters.scan(whole, ANSWER);
        expect(stream(filters, given)).toEqual({ text: redacted(whole, findings), count: findings.length });
      }),
      { numRuns: 1500 },
    );
  });

  it('holds back nothing that no continuation makes part of a match', () => {
    // Few enough patterns and characters to try every continuation.
    const sources = ['ab', 'a+b', 'a[^]*b', '\\ba1', 'b1$', 'é', 'e', '1{2,3}', 'ba|ab1'];
    const letters = ['a', 'b', '1', 'e', '\u0301', '\u0307'];
    const endings = letters.flatMap((one) =>
      letters.flatMap((two) => ['', one, one + two, `${one}${two}1`, `${one}${two}b`]),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...sources),
        fc.string({ unit: fc.constantFrom('a', 'b', '1', ' ', 'e'), minLength: 1, maxLength: 8 }),
        (source, text) => {
          const filters = compileFilters([appliedFilters({ filters: [redact(source)] })]);
          const scan = filters.stream(ANSWER);
          scan.push(text);
          const held = scan.heldCharacters;
          if (held === 0) return;
          const first = text.length - held;
          const outcomes = new Set(
            endings.map((ending) => {
              const at = filters.scan(text + ending, ANSWER).find(({ end }) => end > first);
              return at === undefined || at.start > first ? 'leaves' : `${at.start}-${at.end}`;
            }),
          );
          // The first character that is held back leaves or not, or its match ends here or there, as the case may be.
          expect([source, text, held, outcomes.size > 1]).toEqual([source, text, held, true]);
        },
      ),
      { numRuns: 600 },
    );
  });

  it('holds an unbounded match exactly while it can go on', () => {
    const scan = compileFilters([appliedFilters({ filters: [redact('secret.*end')] })]).stream(ANSWER);
    const push = (piece: string) => scan.push(piece).release;
    expect([push('no sec'), push('ond. A secret'), push(' is the end')]).toEqual(['no ', 'second. A ', '']);
    expect([push(' or'), push(' not\nnext line')]).toEqual(['', '[REDACTED] or not\nnext line']);
  });

  it('lets whole words leave that no filter can want', () => {
    const scan = compileFilters([
      appliedFilters({ builtins: [{ slug: 'ssn', action: 'redact' }], filters: [redact('xyz')] }),
    ]).stream(ANSWER);
    const pieces = ['Hello', ' wor', 'ld', ', it is', ' 20', '26', ' now', '.'];
    expect(pieces.map((piece) => scan.push(piece).release)).toEqual([
      ...['Hello', ' wor', 'ld', ', it is', ' ', '', '2026 now', '.'],
    ]);
  });

  it('lets nothing leave from the first blocked match on', () => {
    const scan = compileFilters([
      appliedFilters({ filters: [{ pattern: 'secret.*', action: 'block', label: 'Secrets' }] }),
    ]).stream(ANSWER);
    expect(scan.push('a sec')).toEqual({ release: 'a ', findings: [] });
    const { release, findings } = scan.push('ret x');
    expect([release, findings.map(({ label, action }) => [label, action])]).toEqual([
      '',
      [['Secrets', 'block']],
    ]);
    expect([scan.push(' and more\n'), scan.end()]).toEqual([
      { release: '', findings: [] },
      { release: '', findings: [] },
    ]);
  });

  it('never waits for what is only flagged', () => {
    const scan = compileFilters([
      appliedFilters({ filters: [{ pattern: 'a.*b', action: 'flag', label: 'L' }] }),
    ]).stream(ANSWER);
    expect(scan.push('x a 1').release).toBe('x a 1');
    expect(scan.push(' b').release).toBe(' b');
    expect(scan.push('\nrest').findings.map(({ text, start }) => [text, start])).toEqual([['a 1 b', 2]]);
  });

  it('keeps little of a long text', () => {
    const scan = compileFilters([appliedFilters({ builtins: REDACTING_BUILTINS })]).stream(ANSWER);
    let text = '';
    for (let index = 0; index < 3000; index++) text += scan.push(`word ${index} a${index}@b.org `).release;
    expect(text + scan.end().release).toBe(
      Array.from({ length: 3000 }, (_, index) => `word ${index} [EMAIL] `).join(''),
    );
    expect(scan.heldCharacters).toBe(0);
  });
});
