import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/ir/events.ts';
import type { Item } from '../../src/ir/items.ts';
import { runAtOnce } from '../../src/kit/loop/turns.ts';
import type { FilterAction } from '../../src/ports/tenancy/guardrails.ts';
import { AnswerFilter } from '../../src/stages/guardrails/answer/answer-filter.ts';
import { compileFilters, type FilterSet } from '../../src/stages/guardrails/filters/filter-set.ts';
import { GuardrailScan } from '../../src/stages/guardrails/guardrail-scan.ts';
import { JudgePanel } from '../../src/stages/guardrails/judges/judge-panel.ts';
import { appliedFilters } from '../kit/builders/guardrails.ts';
import { requestOf } from '../kit/builders/request.ts';

/** A match is found however the text is cut into parts, blocks or messages, in requests and in answers. */

const BUILTINS = ['email', 'phone', 'ssn', 'credit-card', 'ip-address'] as const;
const LONG = `begin ${'of something long '.repeat(150)}finish`;
const MATCHES = [
  '4111 1111 1111 1111',
  '4111111111111111',
  'ada@example.org',
  '123-45-6789',
  '+1 415 555 2671',
  '192.168.17.4',
  'sk-abcdefghij0123456789',
  'project falcon',
  // The normal form is what counts.
  'pro\u200bject \uff46alcon',
  LONG,
];

function filtersWith(action: FilterAction): FilterSet {
  return compileFilters([
    appliedFilters({
      builtins: BUILTINS.map((slug) => ({ slug, action })),
      filters: ['sk-[a-z0-9]{20}', 'project\\s+falcon', 'begin[\\s\\S]+finish'].map((pattern) => ({
        pattern,
        action,
        label: 'Secret',
      })),
    }),
  ]);
}
const FILTERS = { block: filtersWith('block'), redact: filtersWith('redact'), flag: filtersWith('flag') };

/** A text with one match, and where it is cut. */
const cutText = fc
  .record({
    before: fc.constantFrom('', 'Look: ', 'I write\n', 'a, b, c; ', `${'far away '.repeat(200)}: `),
    match: fc.constantFrom(...MATCHES),
    after: fc.constantFrom('', ' is it.', '\nand so on', '; no', ` ${'and further '.repeat(200)}`),
    at: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 4 }),
    isNew: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
    step: fc.integer({ min: 1, max: 40 }),
    role: fc.constantFrom('user' as const, 'system' as const, 'assistant' as const),
  })
  .map(({ before, match, after, at, ...more }) => {
    const text = `${before}${match}${after}`;
    const cuts = at.map((share) => before.length + 1 + Math.floor(share * (match.length - 1)));
    const inOrder = [0, ...cuts.sort((one, other) => one - other), text.length];
    const pieces = inOrder.slice(1).map((end, index) => text.slice(inOrder[index], end));
    return { ...more, match, pieces: pieces.filter((piece) => piece !== '') };
  })
  .filter(({ pieces }) => pieces.length > 1);

/** The pieces as parts, of one item or of several. */
function itemsOf(pieces: readonly string[], isNew: readonly boolean[]): string[][] {
  const items: string[][] = [];
  for (const [index, piece] of pieces.entries()) {
    if (index === 0 || isNew[index] === true) items.push([piece]);
    else items.at(-1)?.push(piece);
  }
  return items;
}

const NO_SERVICES = new JudgePanel([], { found: () => {}, failed: () => {} }, new AbortController().signal);

async function sent(items: readonly string[][], role: 'user' | 'system' | 'assistant', filters: FilterSet) {
  const scan = new GuardrailScan(filters, () => {});
  const request = requestOf({
    items: items.map((texts): Item => {
      return { type: 'message', role, content: texts.map((text) => ({ type: 'text', text })) };
    }),
  });
  const passed = await scan.request(request, NO_SERVICES);
  const parts = passed.items.flatMap((item) => (item.type === 'message' ? item.content : []));
  const texts = parts.map((part) => (part.type === 'text' ? part.text : ''));
  // What may pass is known to be harmless from then on.
  const again = await scan.request({ ...passed }, NO_SERVICES);
  expect(again.items).toEqual(passed.items);
  return { scan, texts };
}

/** Items of an answer that stand between messages. */
const BETWEEN: Readonly<Record<string, (item: number) => Event[]>> = {
  nothing: () => [],
  thoughts: (item) => [
    { type: 'item-start', item, head: { type: 'reasoning' } },
    { type: 'text-delta', item, part: 0, kind: 'thought', text: 'now, the rest;' },
    { type: 'part-end', item, part: 0, kind: 'thought' },
    { type: 'item-end', item },
  ],
  call: (item) => [
    { type: 'item-start', item, head: { type: 'tool-call', kind: 'function', callId: 'c', name: 'f' } },
    { type: 'tool-input-delta', item, text: '{"a":true}' },
    { type: 'item-end', item },
  ],
};

function received(items: readonly string[][], step: number, filters: FilterSet, between = 'nothing') {
  const events: Event[] = items.flatMap((texts, item): Event[] => [
    ...(item === 0 ? [] : (BETWEEN[between]?.(100 + item) ?? [])),
    { type: 'item-start', item, head: { type: 'message' } },
    ...texts.flatMap((text, part): Event[] => [
      { type: 'part-start', item, part, kind: 'text' },
      ...Array.from({ length: Math.ceil(text.length / step) }, (_, at): Event => {
        return { type: 'text-delta', item, part, kind: 'text', text: text.slice(at * step, (at + 1) * step) };
      }),
      { type: 'part-end', item, part, kind: 'text' },
    ]),
    { type: 'item-end', item },
  ]);
  events.push({ type: 'finish', reason: 'stop' });
  const scan = new GuardrailScan(filters, () => {});
  const filter = new AnswerFilter(scan);
  const passed: Event[] = [];
  for (const event of events) {
    const release = filter.push([event]);
    const released = Array.isArray(release) ? release : runAtOnce(release);
    if (scan.isBlocked) break;
    passed.push(...released);
  }
  return { scan, events, passed };
}

const textOf = (events: readonly Event[]) =>
  events.map((event) => (event.type === 'text-delta' && event.kind === 'text' ? event.text : '')).join('');
const withoutText = (events: readonly Event[]) => events.filter(({ type }) => type !== 'text-delta');

/** The events with the pieces of each text in one. */
function folded(events: readonly Event[]): Event[] {
  const all: Event[] = [];
  for (const event of events) {
    const last = all.at(-1);
    if (event.type !== 'text-delta' || last?.type !== 'text-delta') all.push(event);
    else all[all.length - 1] = { ...last, text: last.text + event.text };
  }
  return all;
}

const RUNS = { numRuns: 150 };

describe('a text that is cut', () => {
  it('is blocked when it is sent', async () => {
    await fc.assert(
      fc.asyncProperty(cutText, async ({ pieces, isNew, role }) => {
        const { scan } = await sent(itemsOf(pieces, isNew), role, FILTERS.block);
        expect(scan.isBlocked).toBe(true);
      }),
      RUNS,
    );
  });

  it('is blocked when it is received, and nothing of the match passes but what could not match', () => {
    fc.assert(
      fc.property(cutText, ({ pieces, isNew, step, match }) => {
        const { scan, passed } = received(itemsOf(pieces, isNew), step, FILTERS.block);
        expect(scan.isBlocked).toBe(true);
        expect(pieces.join('').indexOf(match) >= textOf(passed).length).toBe(true);
      }),
      RUNS,
    );
  });

  it('is redacted when it is sent', async () => {
    await fc.assert(
      fc.asyncProperty(cutText, async ({ pieces, isNew, role }) => {
        const { scan, texts } = await sent(itemsOf(pieces, isNew), role, FILTERS.redact);
        expect(FILTERS.redact.scan(texts.join(''), { role, direction: 'sent' })).toEqual([]);
        expect(texts).not.toContain('');
        expect(scan.take().length).toBeGreaterThan(0);
      }),
      RUNS,
    );
  });

  it('is redacted when it is received, with all other events in their order', () => {
    fc.assert(
      fc.property(cutText, ({ pieces, isNew, step }) => {
        const items = itemsOf(pieces, isNew);
        const { scan, events, passed } = received(items, step, FILTERS.redact);
        expect(FILTERS.redact.scan(textOf(passed), { role: 'assistant', direction: 'received' })).toEqual([]);
        expect(withoutText(passed)).toEqual(withoutText(events));
        expect(scan.take().length).toBeGreaterThan(0);
        expect(scan.receivedCharacters).toBe(pieces.join('').length);
      }),
      RUNS,
    );
  });

  it.each(['thoughts', 'call'])('is found when it is received with %s between its pieces', (between) => {
    fc.assert(
      fc.property(cutText, ({ pieces, step, match }) => {
        const items = pieces.map((piece) => [piece]);
        const blocked = received(items, step, FILTERS.block, between);
        expect(blocked.scan.isBlocked).toBe(true);
        expect(pieces.join('').indexOf(match) + match.length > textOf(blocked.passed).length).toBe(true);
        const { scan, events, passed } = received(items, step, FILTERS.redact, between);
        expect(textOf(passed)).not.toContain(match);
        expect(withoutText(passed)).toEqual(withoutText(events));
        expect(scan.take().length).toBeGreaterThan(0);
        expect(textOf(received(items, step, FILTERS.flag, between).passed)).toBe(pieces.join(''));
      }),
      RUNS,
    );
  });

  it('does not make thoughts or calls wait for the text after them', () => {
    for (const between of ['thoughts', 'call']) {
      const scan = new GuardrailScan(FILTERS.redact, () => {});
      const filter = new AnswerFilter(scan);
      const push = (event: Event) => {
        const release = filter.push([event]);
        return Array.isArray(release) ? release : runAtOnce(release);
      };
      const before: Event[] = [
        { type: 'item-start', item: 0, head: { type: 'message' } },
        { type: 'text-delta', item: 0, part: 0, kind: 'text', text: 'my number is 4111 1111' },
        { type: 'part-end', item: 0, part: 0, kind: 'text' },
        { type: 'item-end', item: 0 },
      ];
      for (const event of before) push(event);
      const item = BETWEEN[between]?.(1) ?? [];
      expect(item.flatMap(push).at(-1)).toEqual({ type: 'item-end', item: 1 });
    }
  });

  it('is flagged and passes as it is', async () => {
    await fc.assert(
      fc.asyncProperty(cutText, async ({ pieces, isNew, step, role }) => {
        const items = itemsOf(pieces, isNew);
        const asked = await sent(items, role, FILTERS.flag);
        expect(asked.texts).toEqual(pieces);
        expect(asked.scan.take().length).toBeGreaterThan(0);
        const answered = received(items, step, FILTERS.flag);
        expect(textOf(answered.passed)).toBe(pieces.join(''));
        expect(answered.scan.take().length).toBeGreaterThan(0);
      }),
      RUNS,
    );
  });
});

describe('texts without a match', () => {
  const words = fc.array(
    fc.constantFrom('a', '12', '4', '@', '.', ' ', 'sk-', 'e', '\u0301', ',', 'begin', '\n'),
    {
      maxLength: 12,
    },
  );

  it('pass as they are, event for event', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(words, { minLength: 1, maxLength: 5 }),
        fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
        fc.integer({ min: 1, max: 5 }),
        async (texts, isNew, step) => {
          const pieces = texts.map((each) => each.join('')).filter((each) => each !== '');
          const filters = FILTERS.redact;
          fc.pre(pieces.length > 0);
          for (const blank of ['', ' ']) {
            fc.pre(filters.scan(pieces.join(blank), { role: 'user', direction: 'sent' }).length === 0);
          }
          const items = itemsOf(pieces, isNew);
          expect((await sent(items, 'user', filters)).texts).toEqual(pieces);
          const { events, passed, scan } = received(items, step, filters);
          expect(folded(passed)).toEqual(folded(events));
          expect(scan.take()).toEqual([]);
        },
      ),
      RUNS,
    );
  });
});
