import { describe, expect, it } from 'vitest';
import { LearntLengths } from './learnt-lengths.ts';

const answers = (keyHash: string, accountId = 'a', modelId = 'm') => ({ keyHash, accountId, modelId });

describe('learnt lengths', () => {
  it('are those of the key and the model', () => {
    const learnt = new LearntLengths();
    learnt.learn(answers('k'), 30);
    learnt.learn(answers('k'), 10);
    expect(learnt.longest(answers('k'))).toBe(30);
    expect(learnt.longest(answers('k', 'a', 'other'))).toBeUndefined();
    expect(learnt.longest(answers('other'))).toBeUndefined();
  });

  it('are those of the account once there are a few', () => {
    const learnt = new LearntLengths();
    for (const tokens of [10, 20, 40, 30]) learnt.learn(answers('k'), tokens);
    expect(learnt.longest(answers('new'))).toBe(40);
    expect(learnt.longest(answers('new', 'another'))).toBeUndefined();
  });

  it('are of late', () => {
    const learnt = new LearntLengths();
    learnt.learn(answers('k'), 9000);
    for (let index = 0; index < 16; index++) learnt.learn(answers('k'), index);
    expect(learnt.longest(answers('k'))).toBe(15);
  });
});
