import { beforeEach, describe, expect, it } from 'vitest';
import { classifierOf } from '../../test/kit/builders/classifiers.ts';
import { HandClock } from '../../test/kit/fakes/hand-clock.ts';
import type { Classification } from '../ports/following/classifiers.ts';
import type { FollowedGeneration } from '../ports/following/follower.ts';
import type { FailedAsk } from './ask-failure.ts';
import type { Answered } from './ask-model.ts';
import { ClassificationCounts } from './classification-counts.ts';
import { ClassifyBatch } from './classify-batch.ts';

const AWAY: FailedAsk = { kind: 'waits', problem: 'status 503', retryAfterMs: undefined };
const CALM: Answered = {
  kind: 'answered',
  verdict: { tags: { mood: 'calm' }, problem: null },
  generationId: 'gen-own',
  costNanos: 1n,
};

function followed(id: string): FollowedGeneration {
  const content = { input: { prompt: id }, output: { completion: 'x', reasoning: null }, error: null };
  const scopes = { account: 'account', workspace: 'workspace', key: 'k' };
  const charge = { creditNanos: 0n, byokNanos: 0n };
  const settled = { settledAtMs: 5, charge, writtenOffNanos: 0n, writtenOffCause: null };
  return { generation: { id, scopes, ...settled, row: {} }, content };
}

let batch: ClassifyBatch;
let stored: Classification[];
let answer: (transcript: string) => Answered | FailedAsk;
const { signal } = new AbortController();

beforeEach(() => {
  stored = [];
  batch = new ClassifyBatch({
    model: { ask: async (_, { transcript }) => answer(transcript) },
    classifications: {
      add: async (added) => void stored.push(...added),
      classified: async (_, ids) =>
        new Set(ids.filter((id) => stored.some((each) => each.generationId === id))),
    },
    counts: new ClassificationCounts(),
    clock: new HandClock(),
    changed: () => {},
  });
});

describe('a batch that is classified', () => {
  it('waits for a model that is away, however long, if nothing else waits', async () => {
    answer = () => AWAY;
    for (let tries = 0; tries < 20; tries++) {
      expect(await batch.classify(classifierOf(), [followed('a')], { signal })).toMatchObject({
        failed: 0,
        stopped: AWAY,
      });
    }
    answer = () => CALM;
    expect(await batch.classify(classifierOf(), [followed('a')], { signal })).toMatchObject({
      tagged: 1,
      stopped: undefined,
    });
  });

  it('gives up a conversation that the model fails at five times while others wait', async () => {
    answer = (transcript) => (transcript.includes('bad') ? AWAY : CALM);
    const both = [followed('bad'), followed('good')];
    for (let tries = 0; tries < 4; tries++) {
      expect((await batch.classify(classifierOf(), both, { signal })).stopped).toEqual(AWAY);
    }
    // What was said of the other is kept, and it is not asked again.
    const more = [...both, followed('next')];
    expect(await batch.classify(classifierOf(), more, { signal })).toMatchObject({ failed: 1 });
    expect(stored.find(({ generationId }) => generationId === 'bad')?.problem).toBe(
      'given up after 5 tries: status 503',
    );
  });

  it('gives up the last conversation of a run, so that it ends', async () => {
    answer = () => AWAY;
    const run = { id: 'run', budgetNanos: null };
    for (let tries = 0; tries < 4; tries++) {
      expect((await batch.classify(classifierOf(), [followed('a')], { run, signal })).stopped).toEqual(AWAY);
    }
    expect(await batch.classify(classifierOf(), [followed('a')], { run, signal })).toMatchObject({
      failed: 1,
      stopped: undefined,
    });
  });
});
