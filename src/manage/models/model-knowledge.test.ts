import { describe, expect, it } from 'vitest';
import { NO_OVERLAY, type Overlay, parseOverlay } from '../../catalog/knowledge/overlay.ts';
import { runAtOnce } from '../../kit/loop/turns.ts';
import { ModelKnowledge } from './model-knowledge.ts';

const NOW = Date.parse('2026-11-15T10:00:00Z');
const clock = { now: () => NOW, monotonic: () => NOW };
const apply = { prune: false, apply: true };

class MemoryStore {
  readonly maxBytes: number;
  readonly written: string[] = [];

  constructor(maxBytes = 1_000_000) {
    this.maxBytes = maxBytes;
  }

  read(): string | undefined {
    return this.written.at(-1);
  }

  write(text: string): void {
    this.written.push(text);
  }
}

function stored(store: MemoryStore): Overlay {
  const reading = runAtOnce(parseOverlay(store.read() ?? ''));
  if (!reading.ok) throw new Error(reading.problem);
  return reading.overlay;
}

/** Data of unknown models. */
function dataOf(count: number, author = 'acme') {
  const pricing = { prompt: '0.1', completion: '0.1' };
  return {
    as_of: '2026-11-14',
    source: 'test',
    models: Array.from({ length: count }, (_, index) => ({
      id: `${author}/${index}`,
      endpoints: [{ provider: 'groq', model: 'x', tag: 'groq', pricing }],
    })),
  };
}

describe('refresh', () => {
  it.each([true, false])('refuses what the next start could not read (apply: %s)', async (isApplied) => {
    const store = new MemoryStore(2_000);
    const knowledge = new ModelKnowledge(store, NO_OVERLAY, clock);
    expect(await knowledge.refresh(dataOf(3), { ...apply, apply: isApplied })).toMatchObject({ ok: true });
    const outcome = await knowledge.refresh(dataOf(30), { ...apply, apply: isApplied });
    const message =
      'this cannot be stored: the catalogue with it is larger than 2000 bytes; bring in less, or forget older data with --prune';
    expect(outcome).toEqual({ ok: false, problems: [{ path: '', message }] });
    expect(store.written).toHaveLength(isApplied ? 1 : 0);
  });

  it('yields to other work, and so does building a catalogue from it', async () => {
    const knowledge = new ModelKnowledge(new MemoryStore(), NO_OVERLAY, clock);
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await knowledge.refresh(dataOf(2_000), apply);
    isOver = true;
    expect(turns).toBeGreaterThan(100);
    const entries = knowledge.entriesOf(new Set(['groq']));
    let slices = 0;
    while (entries.next().done !== true) slices++;
    expect(slices).toBeGreaterThan(20);
  });

  it('looks only at what one model changes, however many are known', async () => {
    const knowledge = new ModelKnowledge(new MemoryStore(), NO_OVERLAY, clock);
    await knowledge.refresh(dataOf(100), apply);
    const outcome = await knowledge.refresh(dataOf(1, 'other'), apply);
    expect(outcome).toMatchObject({ applied: true });
    expect(outcome.ok && outcome.differences.filter(({ kind }) => kind !== 'gone')).toEqual([
      { kind: 'model-added', model: 'other/0' },
      { kind: 'endpoint-added', model: 'other/0', tag: 'groq' },
    ]);
  });

  it('runs one after the other', async () => {
    const store = new MemoryStore();
    const knowledge = new ModelKnowledge(store, NO_OVERLAY, clock);
    const broken = knowledge.refresh(dataOf(1), { ...apply, state: 'another' });
    const both = [dataOf(100, 'one'), dataOf(100, 'two')].map((data) => knowledge.refresh(data, apply));
    await expect(broken).rejects.toThrow('the catalogue was changed meanwhile');
    await Promise.all(both);
    expect(stored(store).models).toHaveLength(200);
  });

  it('is over before the store is closed', async () => {
    const store = new MemoryStore();
    const knowledge = new ModelKnowledge(store, NO_OVERLAY, clock);
    void knowledge.refresh(dataOf(500), apply);
    expect(store.written).toHaveLength(0);
    await knowledge.close();
    expect(store.written).toHaveLength(1);
  });

  it('passes a refresh to its listeners, and waits for them', async () => {
    const knowledge = new ModelKnowledge(new MemoryStore(), NO_OVERLAY, clock);
    let found: string | undefined;
    knowledge.onChange(async () => {
      found = (await knowledge.all()).get('acme/0')?.id;
    });
    await knowledge.refresh(dataOf(1), { ...apply, apply: false });
    expect(found).toBeUndefined();
    await knowledge.refresh(dataOf(1), apply);
    expect(found).toBe('acme/0');
  });

  it('is of the same state after it was read again', async () => {
    const store = new MemoryStore();
    const first = await new ModelKnowledge(store, NO_OVERLAY, clock).refresh(dataOf(3), apply);
    const second = new ModelKnowledge(store, stored(store), clock);
    const look = await second.refresh(dataOf(3), { ...apply, apply: false });
    expect(look).toMatchObject({ changed: false, state: first.ok && first.state });
  });
});

describe('entriesOf', () => {
  it('lists no model without an endpoint', async () => {
    const knowledge = new ModelKnowledge(new MemoryStore(), NO_OVERLAY, clock);
    await knowledge.refresh({ ...dataOf(0), models: [{ id: 'acme/facts', context_length: 1 }] }, apply);
    const ids = runAtOnce(knowledge.entriesOf(new Set(['groq']))).map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(0);
    expect(ids).not.toContain('acme/facts');
    expect((await knowledge.all()).get('acme/facts')?.endpoints).toEqual([]);
  });
});
