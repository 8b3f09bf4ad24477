import { describe, expect, it } from 'vitest';
import { GenerationRefused, type StoredGeneration } from '../../../ports/generations/generations.ts';
import type { SettleRecord } from '../records/records.ts';
import { Projector } from './projector.ts';

const recordOf = (sequence: number): SettleRecord => ({
  kind: 'settle',
  sequence,
  generationId: `g${sequence}`,
  scopes: { key: 'k', workspace: 'w', account: 'a' },
  atMs: 1,
  charge: { creditNanos: 1n, byokNanos: 0n },
  writtenOffNanos: 0n,
  writtenOffCause: null,
  row: {},
});

/** Adds what is not refused, all or none, unless they are unavailable. */
class PickyRows {
  readonly taken = new Set<string>();
  readonly batches: number[] = [];
  readonly refuses: ReadonlySet<string>;
  /** The batch at which they are unavailable. */
  awayAfter = Number.POSITIVE_INFINITY;

  constructor(refuses: readonly string[]) {
    this.refuses = new Set(refuses);
  }

  async add(generations: readonly StoredGeneration[]): Promise<void> {
    this.batches.push(generations.length);
    if (this.batches.length === this.awayAfter) throw new Error('away');
    if (generations.some(({ id }) => this.refuses.has(id))) throw new GenerationRefused('too large');
    for (const { id } of generations) this.taken.add(id);
  }
}

async function project(rows: PickyRows, count: number): Promise<{ told: string[]; left: number }> {
  const told: string[] = [];
  const projector = new Projector({ rows, warn: (message) => told.push(message) });
  for (let sequence = 1; sequence <= count; sequence++) {
    projector.expect(recordOf(sequence));
    projector.confirm(recordOf(sequence));
  }
  projector.start({ read: async function* () {} });
  await projector.drain();
  await projector.close();
  return { told, left: projector.neededFrom };
}

const idsOf = (told: readonly string[]) =>
  told.flatMap((message) => /^the generation (\S+) can never have a row/.exec(message)?.[1] ?? []);

describe('Projector', () => {
  it('needs the journal from the first record that is not handed over, in any order', async () => {
    const rows = new PickyRows([]);
    rows.awayAfter = 1;
    const projector = new Projector({ rows, warn() {} });
    // Record 4 was retried while the disk failed, and written after record 5.
    for (const sequence of [5, 4]) {
      projector.expect(recordOf(sequence));
      projector.confirm(recordOf(sequence));
    }
    expect(projector.neededFrom).toBe(4);
    await projector.close();
  });

  it('hands over many at once', async () => {
    const rows = new PickyRows([]);
    expect(await project(rows, 1200)).toEqual({ told: [], left: Number.POSITIVE_INFINITY });
    expect(rows.taken.size).toBe(1200);
    expect(rows.batches.length).toBeLessThan(5);
  });

  it('leaves out refused generations, logs each, and needs the journal for none', async () => {
    const rows = new PickyRows(['g1', 'g77', 'g78', 'g600']);
    const { told, left } = await project(rows, 600);
    expect(idsOf(told)).toEqual(['g1', 'g77', 'g78', 'g600']);
    expect(told).toHaveLength(4);
    expect(rows.taken.size).toBe(596);
    expect(left).toBe(Number.POSITIVE_INFINITY);
  });

  it('goes on behind refused ones that are all there is', async () => {
    const rows = new PickyRows(['g1', 'g2', 'g3']);
    expect(idsOf((await project(rows, 3)).told)).toEqual(['g1', 'g2', 'g3']);
  });

  it('leaves nothing out while the database is unavailable, and logs nothing twice', async () => {
    const rows = new PickyRows(['g1']);
    // By the fourth try g1 was refused alone.
    rows.awayAfter = 4;
    const { told } = await project(rows, 4);
    expect(idsOf(told)).toEqual(['g1']);
    expect(told.filter((message) => message.includes('cannot be written'))).toHaveLength(1);
    expect([...rows.taken].sort()).toEqual(['g2', 'g3', 'g4']);
  });

  it('gathers generations, unless a caller waits for them', async () => {
    const rows = new PickyRows([]);
    const projector = new Projector({ rows, warn: () => {}, gatherMs: 60_000 });
    const settle = (sequence: number) => {
      projector.expect(recordOf(sequence));
      projector.confirm(recordOf(sequence));
    };
    projector.start({ read: async function* () {} });
    settle(1);
    const first = projector.catchUp();
    settle(2);
    settle(3);
    await first;
    expect([...rows.taken]).toEqual(['g1']);
    await projector.catchUp();
    expect([...rows.taken]).toEqual(['g1', 'g2', 'g3']);
    expect(rows.batches).toEqual([1, 2]);
    await projector.close();
  });

  it('hands over a full batch without waiting for more', async () => {
    const rows = new PickyRows([]);
    const projector = new Projector({ rows, warn: () => {}, gatherMs: 60_000, maxBatch: 3 });
    projector.start({ read: async function* () {} });
    for (let sequence = 1; sequence <= 4; sequence++) {
      projector.expect(recordOf(sequence));
      projector.confirm(recordOf(sequence));
    }
    await expect.poll(() => projector.waiting).toBe(1);
    expect(rows.batches).toEqual([3]);
    await projector.close();
  });
});
