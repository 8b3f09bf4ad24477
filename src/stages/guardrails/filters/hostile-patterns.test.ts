import { describe, expect, it } from 'vitest';
import { appliedFilters } from '../../../../test/kit/builders/guardrails.ts';
import { runAtOnce } from '../../../kit/loop/turns.ts';
import type { FilterAction } from '../../../ports/tenancy/guardrails.ts';
import { pushedInSlices, type TextInPieces } from '../answer/text-runs.ts';
import { checkingPatterns } from './check-pattern.ts';
import { compileFilters } from './filter-set.ts';
import { ScanBudget } from './scan-budget.ts';

/** A quarter of what a request has. */
const MOST = 50_000_000;

const USER = { role: 'user', direction: 'sent' } as const;
const ANSWER = { role: 'assistant', direction: 'received' } as const;

/** Creation refuses these; the filters are compiled without that check, as stored ones are. */
const HOSTILE = Array.from({ length: 200 }, (_, index) => `a{1,1000}b${index}`);
const ALLOWED = Array.from({ length: 200 }, (_, index) => `PRJ${index}-[a-z]{4,60}`);

const TEXTS = [
  { title: 'broken runs', text: `${'a'.repeat(999)} `.repeat(1000) },
  { title: 'beginnings of matches', text: 'PRJ1-abc PRJ2'.repeat(77_000) },
];

function filtersOf(patterns: readonly string[], action: FilterAction) {
  return compileFilters([
    appliedFilters({ filters: patterns.map((pattern) => ({ pattern, action, label: null })) }),
  ]);
}

/** Work and processor time of each slice, and what came of them. */
function slicesOf<T>(steps: Generator<void, T, void>, work: () => number) {
  const slices: { readonly work: number; readonly cpuMs: number }[] = [];
  for (;;) {
    const before = work();
    const start = process.cpuUsage();
    const step = steps.next();
    const { user, system } = process.cpuUsage(start);
    slices.push({ work: work() - before, cpuMs: (user + system) / 1000 });
    if (step.done === true) return { slices, value: step.value };
  }
}

/** Times that a text is read if a slice takes too long: the machine may have been busy. */
const ATTEMPTS = 3;

/** Garbage of earlier slices may be collected in any of them, on other threads too: the two longest do not count. */
const longestCpuMs = (slices: readonly { readonly cpuMs: number }[]) =>
  slices.map(({ cpuMs }) => cpuMs).sort((left, right) => right - left)[2] ?? 0;

describe.each([
  ['200 patterns that creation refuses', HOSTILE],
  ['200 patterns that it allows', ALLOWED],
] as const)('%s', (_, patterns) => {
  it.each(TEXTS)('read 1 MB of $title in short slices, within a bound', ({ text }) => {
    let longestMs = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < ATTEMPTS && longestMs >= 50; attempt++) {
      const budget = new ScanBudget(MOST);
      const scan = filtersOf(patterns, 'block').scanInSlices(text, USER, budget);
      const { slices } = slicesOf(scan, () => budget.spent);
      expect(Math.max(...slices.map(({ work }) => work))).toBeLessThan(500_000);
      expect(budget.spent).toBeLessThan(MOST + 500_000);
      longestMs = Math.min(longestMs, longestCpuMs(slices));
    }
    expect(longestMs).toBeLessThan(50);
  });
});

it('allows at creation what it is said to', () => {
  expect(runAtOnce(checkingPatterns(ALLOWED))).toEqual([]);
});

describe('a text that patterns cannot read within their budget', () => {
  const text = 'a'.repeat(20_000);

  it.each([
    ['block', 'block'],
    ['redact', 'block'],
    ['flag', 'flag'],
  ] as const)('is, under patterns that %s, an unfinished scan that says %s', (action, expected) => {
    const filters = filtersOf(HOSTILE.slice(0, 5), action);
    const [finding, ...more] = runAtOnce(filters.scanInSlices(text, USER, new ScanBudget(1_000_000)));
    expect(finding).toMatchObject({ kind: 'unfinished-scan', action: expected, guardrailId: 'guardrail' });
    expect(more).toEqual([]);
  });

  it('counts against those that it was not read by only', () => {
    const filters = compileFilters([
      appliedFilters({
        filters: [
          { pattern: 'a{1,1000}b', action: 'flag', label: 'dear' },
          { pattern: 'aaab', action: 'block', label: 'cheap' },
        ],
      }),
    ]);
    const findings = runAtOnce(filters.scanInSlices(`${text}b`, USER, new ScanBudget(30_000_000)));
    expect(findings.map(({ kind, action }) => [kind, action])).toEqual([
      ['unfinished-scan', 'flag'],
      ['content-filter', 'block'],
    ]);
  });

  it('may be that of several guardrails: they share the budget', () => {
    const one = (id: string, pattern: string) =>
      appliedFilters({ id, filters: [{ pattern, action: 'block', label: null }] });
    const spentBy = (guardrails: readonly ReturnType<typeof one>[]) => {
      const budget = new ScanBudget(70_000_000);
      const findings = runAtOnce(compileFilters(guardrails).scanInSlices(`${text}b`, USER, budget));
      return findings.some(({ kind }) => kind === 'unfinished-scan');
    };
    const first = one('first', 'a{1,1000}x?b');
    const second = one('second', 'a{1,1000}y?b');
    expect([spentBy([first]), spentBy([first, second])]).toEqual([false, true]);
  });

  it('is not taken for harmless later', () => {
    const filters = filtersOf(HOSTILE.slice(0, 5), 'block');
    const scan = () => runAtOnce(filters.scanInSlices(text, USER, new ScanBudget(1_000_000))).length;
    expect([scan(), scan()]).toEqual([1, 1]);
  });

  it.each([
    ['block', ''],
    ['flag', text],
  ] as const)('leaves, in pieces under patterns that %s, only what may leave', (action, expected) => {
    const budget = new ScanBudget(1_000_000);
    const filters = filtersOf(HOSTILE.slice(0, 5), action);
    const scan = filters.stream(ANSWER, budget);
    let kinds: string[] = [];
    const pieces = {
      push: (piece: string) => {
        const { release, findings } = scan.push(piece);
        kinds = kinds.concat(findings.map(({ kind }) => kind));
        return release;
      },
    } as TextInPieces;
    const { sliceCharacters } = filters;
    const source = {
      sliceCharacters,
      get patternWork() {
        return budget.spent;
      },
    };
    const released = runAtOnce(pushedInSlices(pieces, text, source)) + scan.end().release;
    expect(kinds).toEqual(['unfinished-scan']);
    expect(released).toBe(expected);
  });
});
