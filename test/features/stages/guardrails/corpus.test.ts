import { describe, expect, it } from 'vitest';
import { compileFilters } from '../../../../src/stages/guardrails/filters/filter-set.ts';
import { INJECTION_PATTERNS } from '../../../../src/stages/guardrails/filters/injection/patterns.ts';
import { appliedFilters } from '../../../kit/builders/guardrails.ts';
import { HARMLESS } from './corpus/harmless.ts';
import { INJECTIONS } from './corpus/injections.ts';

const filters = compileFilters([
  appliedFilters({ builtins: [{ slug: 'regex-prompt-injection', action: 'block' }] }),
]);
const namesIn = (text: string) =>
  filters.scan(text, { role: 'user', direction: 'sent' }).map(({ name }) => name);

/** Harmless texts that are taken for injections, at most. */
const MAX_FALSE_POSITIVES = 4;

describe('the filter for prompt injections', () => {
  const injections = Object.entries(INJECTIONS).flatMap(([name, texts]) =>
    texts.map((text) => ({ name, text })),
  );

  it('finds all of a list of injections and evasions', () => {
    const missed = injections.filter(({ text }) => namesIn(text).length === 0);
    console.log(`injections found: ${injections.length - missed.length} of ${injections.length}`);
    expect(injections.length).toBeGreaterThanOrEqual(150);
    expect(missed).toEqual([]);
  });

  it('finds each named pattern and each evasion by its own examples', () => {
    const found = new Set(injections.flatMap(({ text }) => namesIn(text)));
    const named = INJECTION_PATTERNS.map(({ name }) => name);
    expect(named).toHaveLength(33);
    const evasions = ['typoglycemia', 'base64_encoded_injection', 'hex_encoded_injection', 'spaced_letters'];
    expect([...named, ...evasions].filter((name) => !found.has(name))).toEqual([]);
  });

  it('takes few of a list of harmless look-alikes for injections', () => {
    const wrong = HARMLESS.filter((text) => namesIn(text).length > 0);
    console.log(`false positives: ${wrong.length} of ${HARMLESS.length}\n${wrong.join('\n')}`);
    expect(HARMLESS.length).toBeGreaterThanOrEqual(200);
    expect(wrong.length).toBeLessThanOrEqual(MAX_FALSE_POSITIVES);
  });
});
