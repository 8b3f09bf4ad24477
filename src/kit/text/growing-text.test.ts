import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { processorMs } from '../../../test/kit/builders/processor-ms.ts';
import { GrowingText } from './growing-text.ts';

describe('GrowingText', () => {
  it('is the text of all its pieces, whenever it is asked', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), fc.boolean()), { maxLength: 2000 }), (steps) => {
        const text = new GrowingText();
        let expected = '';
        for (const [piece, isAsked] of steps) {
          text.add(piece);
          expected += piece;
          if (isAsked && text.toString() !== expected) return false;
        }
        return text.toString() === expected;
      }),
      { numRuns: 30 },
    );
  });

  it('keeps the order over many levels', () => {
    const text = new GrowingText();
    let expected = '';
    for (let index = 0; index < 600_000; index++) {
      const piece = String.fromCharCode(97 + (index % 26));
      text.add(piece);
      expected += piece;
    }
    expect(text.toString() === expected).toBe(true);
  });

  it('does not copy a long beginning with every few pieces', () => {
    const text = new GrowingText();
    const long = 'y'.repeat(2_000_000);
    const taken = processorMs(() => {
      for (let index = 0; index < 15; index++) text.add(long);
      for (let index = 0; index < 100_000; index++) text.add('a');
    });
    expect(taken).toBeLessThan(1500);
    expect(text.toString()).toHaveLength(30_100_000);
  });

  it('does not keep what its pieces were cut out of', () => {
    const heapBytes = liveHeap();
    const text = new GrowingText();
    const before = heapBytes();
    for (let index = 0; index < 500; index++) text.add(cutOut(index));
    expect(heapBytes() - before).toBeLessThan((64 + 16) * BEFORE_CUT);
    expect(text.toString()).toHaveLength(500 * 26);
  });
});

const BEFORE_CUT = 50_000;

/** A piece as readers of frames make them: a view of a longer text. */
function cutOut(index: number): string {
  const whole = Buffer.alloc(BEFORE_CUT, `${index} of many words in a frame`).toString('latin1');
  return whole.slice(1000, 1026);
}

/** Bytes of all texts that are held. */
function liveHeap(): () => number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  return () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
}
