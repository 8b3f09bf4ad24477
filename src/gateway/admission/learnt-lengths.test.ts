import { describe, expect, it } from 'vitest';
import { answersOf, LearntLengths } from './learnt-lengths.ts';

const answers = (keyHash: string, modelId = 'm') => answersOf(keyHash, modelId);

describe('learnt lengths', () => {
  it('are those of the key and the model', () => {
    const learnt = new LearntLengths();
    learnt.learn(answers('k'), { outputTokens: 30 });
    learnt.learn(answers('k'), { outputTokens: 10 });
    expect(learnt.of(answers('k'))).toEqual({ longest: 30, promptRatio: undefined });
    expect(learnt.of(answers('k', 'other'))).toBeUndefined();
    expect(learnt.of(answers('other'))).toBeUndefined();
  });

  it('know how upstreams count prompts, where that is known', () => {
    const learnt = new LearntLengths();
    learnt.learn(answers('k'), { outputTokens: 1, promptRatio: 1.2 });
    learnt.learn(answers('k'), { outputTokens: 1, promptRatio: 0.9 });
    learnt.learn(answers('k'), { outputTokens: 1 });
    expect(learnt.of(answers('k'))?.promptRatio).toBe(1.2);
  });

  it('forget old answers', () => {
    const learnt = new LearntLengths();
    learnt.learn(answers('k'), { outputTokens: 9000 });
    for (let index = 0; index < 16; index++) learnt.learn(answers('k'), { outputTokens: index });
    expect(learnt.of(answers('k'))?.longest).toBe(15);
  });
});
