import { expect, it } from 'vitest';
import { settledIn } from '../../test/adapters/contracts/settled-rows.ts';
import { classifierOf } from '../../test/kit/builders/classifiers.ts';
import { HandClock } from '../../test/kit/fakes/hand-clock.ts';
import type { ClassifierRun } from '../ports/following/classifiers.ts';
import type { Answered } from './ask-model.ts';
import { ClassificationCounts } from './classification-counts.ts';
import { RunWorker } from './run-worker.ts';

const RUN: ClassifierRun = {
  id: 'run',
  classifierId: classifierOf().id,
  accountId: 'a',
  fromMs: 0,
  toMs: 2_000_000_000_000,
  budgetNanos: null,
  progress: {
    state: 'running',
    place: null,
    seen: 0,
    tagged: 0,
    withoutContent: 0,
    failed: 0,
    spentNanos: 0n,
    problem: null,
    updatedAtMs: 0,
  },
  createdAtMs: 0,
};

it('keeps its turn while a model takes long, and breaks off once another gateway has it', async () => {
  let hasTurn = true;
  let turns = 0;
  let asked: AbortSignal | undefined;
  const noted: unknown[] = [];
  const row = { model: 'm', api_type: 'completions', finish_reason: 'stop' };
  const content = { input: { prompt: 'x' }, output: { completion: 'y', reasoning: null }, error: null };
  const worker = new RunWorker({
    model: {
      ask: (_, __, signal) => {
        asked = signal;
        return new Promise<Answered>((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason)),
        );
      },
    },
    classifications: { add: async () => {}, classified: async () => new Set() },
    counts: new ClassificationCounts(),
    clock: new HandClock(),
    changed: () => {},
    runs: {
      listRunning: async () => [RUN],
      note: async (...note) => {
        noted.push(note);
        return true;
      },
    },
    store: { find: async () => classifierOf({ accountId: 'a', workspaceId: 'w' }) },
    generations: { settledAfter: async () => [{ ...settledIn('w', 'g'), row }] },
    contents: { get: async () => content },
    ledger: { spendingOf: async () => [] },
    turn: {
      takeTurn: async () => {
        turns++;
        return hasTurn;
      },
    },
    renewMs: 5,
    random: () => 0,
    log: { warn: () => {}, info: () => {} },
  });
  worker.start();
  await expect.poll(() => asked).toBeDefined();
  await expect.poll(() => turns).toBeGreaterThan(3);
  expect(asked?.aborted).toBe(false);
  hasTurn = false;
  await expect.poll(() => asked?.aborted).toBe(true);
  await worker.close();
  expect(noted).toEqual([]);
});
