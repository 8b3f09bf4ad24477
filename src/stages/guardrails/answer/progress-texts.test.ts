import { describe, expect, it } from 'vitest';
import { appliedFilters } from '../../../../test/kit/builders/guardrails.ts';
import type { Event } from '../../../ir/events.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import type { FilterAction } from '../../../ports/tenancy/guardrails.ts';
import { compileFilters } from '../filters/filter-set.ts';
import { GuardrailScan } from '../guardrail-scan.ts';
import { AnswerFilter } from './answer-filter.ts';

/** Pushes events one by one, as they come; returns those that pass. */
function passed(events: readonly Event[], action: FilterAction = 'redact') {
  const filters = compileFilters([appliedFilters({ builtins: [{ slug: 'credit-card', action }] })]);
  const scan = new GuardrailScan(filters, () => {});
  const filter = new AnswerFilter(scan);
  const out: Event[] = [];
  for (const event of events) {
    if (scan.isBlocked) break;
    const outcome = filter.push([event]);
    if (Array.isArray(outcome)) out.push(...outcome);
    else {
      let slice = outcome.next();
      while (slice.done !== true) slice = outcome.next();
      out.push(...slice.value);
    }
  }
  return { out, scan };
}

const about = (item: number, value: JsonObject): Event => ({
  type: 'opaque',
  dialect: 'responses',
  value,
  item,
});
const step = (value: JsonObject): Event => about(0, { type: 'response.shell_call_command.delta', ...value });
const FINISH: Event = { type: 'finish', reason: 'stop' };
const START: Event = { type: 'item-start', item: 0, head: { type: 'message' } };
const END: Event = { type: 'item-end', item: 0 };

const valuesOf = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'opaque' ? [event.value] : []));
const deltasOf = (events: readonly Event[]) => valuesOf(events).map(({ delta }) => delta);

describe('texts in pieces of events that the representation does not model', () => {
  it('are scanned joined, and every event goes on', () => {
    const { out } = passed([step({ delta: 'pay 4111 11' }), step({ delta: '11 1111 1111 now' }), FINISH]);
    expect(deltasOf(out).join('')).toBe('pay [CREDIT_CARD] now');
    expect(valuesOf(out)).toHaveLength(2);
  });

  it('may stand in a member of the delta, several side by side', () => {
    const { out } = passed([
      step({ delta: { type: 'new_delta', stdout: '4111 1111', stderr: 'a' } }),
      step({ delta: { type: 'new_delta', stdout: ' 1111 1111.', stderr: 'b' } }),
      FINISH,
    ]);
    const deltas = deltasOf(out) as { stdout: string; stderr: string; type: string }[];
    expect(deltas.map(({ stdout }) => stdout).join('')).toBe('[CREDIT_CARD].');
    expect(deltas.map(({ stderr }) => stderr).join('')).toBe('ab');
    expect(new Set(deltas.map(({ type }) => type))).toEqual(new Set(['new_delta']));
  });

  it('are told apart by item, kind and place, whatever comes between', () => {
    const at = (command_index: number, delta: string) => step({ command_index, delta });
    const { out } = passed([
      at(0, '4111 1111'),
      at(1, '4111 1111'),
      about(1, { type: 'response.shell_call_command.delta', command_index: 0, delta: ' 1111 1111' }),
      at(0, ' 1111 1111!'),
      FINISH,
    ]);
    const first = valuesOf(out).filter(({ command_index: place }) => place === 0);
    expect(first.map(({ delta }) => delta).join('')).toContain('[CREDIT_CARD]!');
    const all = deltasOf(out).join('|');
    expect(all.split('4111 1111')).toHaveLength(2);
  });

  it.each<[string, Event]>([
    ['the end of the item', END],
    ['the end of the answer', FINISH],
    ['a failure', { type: 'failure', error: new Error('cut') as never }],
    ['the whole text', about(0, { type: 'response.shell_call_command.done', command: 'x' })],
  ])('have their rest before %s', (_, last) => {
    const { out } = passed([START, step({ command_index: 2, delta: 'pay 4111' }), last]);
    expect(deltasOf(out).slice(0, 2).join('')).toBe('pay 4111');
    expect(out.at(-1)).toMatchObject({ type: last.type });
    expect(valuesOf(out)[1]).toMatchObject({ type: 'response.shell_call_command.delta', command_index: 2 });
  });

  it('end the answer if they are blocked', () => {
    const { out, scan } = passed(
      [step({ delta: '4111 1111' }), step({ delta: ' 1111 1111' }), FINISH],
      'block',
    );
    expect(scan.isBlocked).toBe(true);
    expect(JSON.stringify(out)).not.toMatch(/1111 1111 1111/);
  });

  it('are followed in any number, and forgotten in order', () => {
    const many = Array.from({ length: 2000 }, (_, index) => about(index, { type: 'x', delta: '4111' }));
    const { out } = passed([...many, FINISH]);
    expect(deltasOf(out).join('')).toBe('4111'.repeat(2000));
  });
});

describe('other texts of such events', () => {
  const told = (text: string): Event => about(0, { type: 'response.told', note: { text } });

  it('lose what goes on from the last event of the kind, which has passed', () => {
    const { out } = passed([told('4111 1111'), told(' 1111 1111 now'), FINISH]);
    const texts = valuesOf(out).map(({ note }) => (note as { text: string }).text);
    expect(texts[0]).toBe('4111 1111');
    expect(texts[1]).not.toContain('1111');
    expect(texts[1]).toContain('now');
  });

  it('block what goes on from it', () => {
    const { scan } = passed([told('4111'), told(' 1111 '), told('1111 1111')], 'block');
    expect(scan.isBlocked).toBe(true);
  });

  it('follow text before them that is held back', () => {
    const said = (text: string): Event => ({ type: 'text-delta', item: 0, part: 0, kind: 'text', text });
    const { out } = passed([START, said('It is 4111'), told('x'), said(' no card'), told('y'), END, FINISH]);
    const order = out.map((event) => (event.type === 'text-delta' ? event.text : event.type));
    expect(order).toEqual(['item-start', 'It is ', '4111 no card', 'opaque', 'opaque', 'item-end', 'finish']);
  });
});
