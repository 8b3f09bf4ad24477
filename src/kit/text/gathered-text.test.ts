import { describe, expect, it } from 'vitest';
import { nextTurn } from '../loop/turns.ts';
import { GatheredText } from './gathered-text.ts';

function gathered() {
  const written: string[] = [];
  return { written, text: new GatheredText((piece) => written.push(piece)) };
}

describe('GatheredText', () => {
  it('hands over the pieces of a turn together', async () => {
    const { written, text } = gathered();
    text.add('a');
    text.add('b');
    expect(written).toEqual([]);
    await nextTurn();
    text.add('c');
    await nextTurn();
    expect(written).toEqual(['ab', 'c']);
  });

  it('hands over at once on flush, and nothing twice', async () => {
    const { written, text } = gathered();
    text.add('a');
    text.flush();
    expect(written).toEqual(['a']);
    await nextTurn();
    expect(written).toEqual(['a']);
  });

  it('does not let much wait', () => {
    const { written, text } = gathered();
    for (let index = 0; index < 100; index++) text.add('x'.repeat(1000));
    expect(written).toHaveLength(1);
  });
});
