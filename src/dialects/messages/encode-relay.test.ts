import { describe, expect, it } from 'vitest';
import { BlockOrder } from './encode-relay.ts';

describe('the order of blocks', () => {
  it('is the upstream’s own where it writes one after the other', () => {
    const blocks = new BlockOrder();
    expect(blocks.start(0, 'start0 ')).toBe('start0 ');
    expect(blocks.add(0, 'more0 ')).toBe('more0 ');
    expect(blocks.stop(0, 'stop0 ')).toBe('stop0 ');
    expect(blocks.start(1, 'start1 ')).toBe('start1 ');
    expect(blocks.isOpen(0)).toBe(false);
    expect(blocks.isOpen(1)).toBe(true);
  });

  it('is made where blocks are mixed, with nothing lost', () => {
    const blocks = new BlockOrder();
    const written = [
      blocks.start(3, 'a'),
      blocks.start(1, 'b'),
      blocks.add(1, 'b'),
      blocks.add(3, 'a'),
      blocks.start(4, 'c'),
      blocks.stop(4, 'c'),
      blocks.add(1, 'b'),
      blocks.stop(3, 'a'),
      blocks.add(1, 'b'),
      blocks.stop(1, 'b'),
    ];
    expect(written.join('')).toBe('aaabbbbbcc');
    expect(written[7]).toBe('abbb');
  });

  it('ends with every block stopped', () => {
    const blocks = new BlockOrder();
    blocks.start(0, '');
    blocks.start(1, 'start1 ');
    const text = blocks.stopAll();
    expect(text.match(/"index":\d/g)).toEqual(['"index":0', '"index":1']);
    expect(text.indexOf('start1')).toBeGreaterThan(text.indexOf('"index":0'));
    expect(blocks.stopAll()).toBe('');
  });
});
