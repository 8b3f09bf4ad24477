import { describe, expect, it } from 'vitest';
import { appliedFilters } from '../../../../test/kit/builders/guardrails.ts';
import type { Event } from '../../../ir/events.ts';
import { compileFilters } from '../filters/filter-set.ts';
import { GuardrailScan } from '../guardrail-scan.ts';
import { AnswerFilter } from './answer-filter.ts';

const filters = compileFilters([
  appliedFilters({
    builtins: [{ slug: 'email', action: 'redact' }],
    filters: Array.from({ length: 200 }, (_, index) => ({
      pattern: `[ab]{1,${10 + (index % 40)}}c${index}d`,
      action: 'redact',
      label: null,
    })),
  }),
]);

const delta = (text: string): Event => ({ type: 'text-delta', item: 0, part: 0, kind: 'text', text });

/** The events that pass, and the number of slices; 0 = at once. */
function passed(batch: readonly Event[]): { readonly events: Event[]; readonly slices: number } {
  const outcome = new AnswerFilter(new GuardrailScan(filters, () => {})).push(batch);
  if (Array.isArray(outcome)) return { events: outcome, slices: 0 };
  for (let slices = 1; ; slices++) {
    const slice = outcome.next();
    if (slice.done === true) return { events: slice.value, slices };
  }
}

const textOf = (events: readonly Event[]) =>
  events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');

describe('a batch of events', () => {
  it('is scanned at once if it is short', () => {
    expect(passed([delta('Hello, '), delta('world. ')])).toEqual({
      events: [delta('Hello, '), delta('world. ')],
      slices: 0,
    });
  });

  it('is scanned in slices if it is long, with the same outcome', () => {
    const text = `${'ab ada@example.org abc7d '.repeat(200)}.`;
    const expected = `${'ab [EMAIL] [REDACTED] '.repeat(200)}.`;
    const whole = passed([delta(text), { type: 'finish', reason: 'stop' }]);
    expect(textOf(whole.events)).toBe(expected);
    expect(whole.slices).toBeGreaterThan(50);
    const pieces = passed([...Array.from(text, delta), { type: 'finish', reason: 'stop' }]);
    expect(textOf(pieces.events)).toBe(expected);
    expect(pieces.slices).toBeGreaterThan(50);
  });

  it('is scanned in slices if it has long texts that come whole', () => {
    const value = { type: 'search', query: 'ada@example.org '.repeat(5000) };
    const { events, slices } = passed([{ type: 'opaque', dialect: 'responses', value }]);
    expect(JSON.stringify(events)).not.toContain('ada@');
    expect(slices).toBeGreaterThan(10);
  });
});
