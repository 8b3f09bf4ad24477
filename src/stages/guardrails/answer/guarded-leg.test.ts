import { describe, expect, it } from 'vitest';
import { appliedFilters } from '../../../../test/kit/builders/guardrails.ts';
import { requestOf } from '../../../../test/kit/builders/request.ts';
import { stageContextOf } from '../../../../test/kit/builders/stage.ts';
import type { Event, EventBatch } from '../../../ir/events.ts';
import type { Flow } from '../../../kit/frames/flow.ts';
import type { FilterAction } from '../../../ports/tenancy/guardrails.ts';
import { compileFilters } from '../filters/filter-set.ts';
import { GuardrailScan } from '../guardrail-scan.ts';
import { JudgePanel } from '../judges/judge-panel.ts';
import type { Guarded } from './guarded.ts';
import { GuardedLeg } from './guarded-leg.ts';

const START: Event = { type: 'item-start', item: 0, head: { type: 'message' } };
const STOP: Event = { type: 'finish', reason: 'stop' };
const delta = (text: string): Event => ({ type: 'text-delta', item: 0, part: 0, kind: 'text', text });

/** A leg whose batches are all ready, and whether it was ended. */
class ReadyLeg implements Flow<EventBatch> {
  readonly #batches: EventBatch[];
  isEnded = false;

  constructor(batches: readonly EventBatch[]) {
    this.#batches = [...batches];
  }

  async next(): Promise<IteratorResult<EventBatch, unknown>> {
    const value = this.#batches.shift();
    return value === undefined ? { done: true, value: undefined } : { done: false, value };
  }

  poll(): EventBatch | undefined {
    return this.#batches.shift();
  }

  async return(): Promise<IteratorResult<EventBatch, unknown>> {
    this.isEnded = true;
    return { done: true, value: undefined };
  }
}

function guardedLeg(leg: ReadyLeg, action: FilterAction) {
  const filters = compileFilters([
    appliedFilters({ filters: [{ pattern: 'secret\\d', action, label: 'Secret' }] }),
  ]);
  const scan = new GuardrailScan(filters, () => {});
  const panel = new JudgePanel([], { found: () => {}, failed: () => {} }, new AbortController().signal);
  const { context } = stageContextOf();
  const next = () => ({ [Symbol.asyncIterator]: () => leg });
  return {
    scan,
    events: new GuardedLeg(requestOf(), next, context, { scan, panel } as unknown as Guarded, true),
  };
}

/** Reads as a reply does: polls what is ready between two steps. */
async function readAll(events: GuardedLeg): Promise<{ passed: Event[]; polled: number }> {
  const passed: Event[] = [];
  let polled = 0;
  for (let step = await events.next(); step.done !== true; step = await events.next()) {
    passed.push(...step.value);
    for (let batch = events.poll(); batch !== undefined; batch = events.poll()) {
      polled++;
      passed.push(...batch);
    }
  }
  return { passed, polled };
}

const textOf = (events: readonly Event[]) =>
  events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');

describe('a leg under guardrails', () => {
  it('passes polled batches on, with replacements across them', async () => {
    const leg = new ReadyLeg([
      [START],
      [delta('It is ')],
      [delta('sec')],
      [delta('ret1')],
      [delta('. ')],
      [STOP],
    ]);
    const { events, scan } = guardedLeg(leg, 'redact');
    const { passed, polled } = await readAll(events);
    expect(textOf(passed)).toBe('It is [Secret]. ');
    expect(passed.at(-1)).toEqual(STOP);
    expect(polled).toBeGreaterThan(0);
    expect(scan.filteredCharacters).toBe('It is secret1. '.length);
  });

  it('ends with a failure, and the leg before it, at a polled batch that must not pass', async () => {
    const leg = new ReadyLeg([
      [START],
      [delta('It is ')],
      [delta('nearly secret1')],
      [delta('more')],
      [STOP],
    ]);
    const { events } = guardedLeg(leg, 'block');
    const { passed } = await readAll(events);
    expect(textOf(passed)).toBe('It is ');
    expect(passed.at(-1)).toMatchObject({ type: 'failure', error: { kind: 'permission' } });
    expect(leg.isEnded).toBe(true);
  });

  it('is refused if nothing has passed', async () => {
    const leg = new ReadyLeg([[START, delta('secret1')], [STOP]]);
    const { events } = guardedLeg(leg, 'block');
    await expect(events.next()).rejects.toMatchObject({ kind: 'permission' });
    expect(leg.isEnded).toBe(true);
  });
});
