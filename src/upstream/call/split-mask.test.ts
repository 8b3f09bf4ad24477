import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Event } from '../../ir/events.ts';
import { SplitMask, splitSecret } from './split-mask.ts';

const KEY = 'sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2';

const piece = (text: string): Event => ({ type: 'text-delta', item: 0, part: 0, kind: 'text', text });
const USAGE: Event = { type: 'usage', usage: { input: 1, output: 1 } as never };
const PART_END: Event = { type: 'part-end', item: 0, part: 0, kind: 'text' };

function maskOf(keys: readonly string[] = [KEY]): SplitMask {
  return new SplitMask(keys.map(splitSecret));
}

function textOf(events: readonly Event[]): string {
  return events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');
}

/** What passes of a text in such pieces. */
function written(pieces: readonly string[], keys?: readonly string[]): string {
  const mask = maskOf(keys);
  return textOf([...pieces.flatMap((text) => mask.mask([piece(text)])), ...mask.release()]);
}

/** A text in pieces of these sizes, in turn. */
function cut(text: string, sizes: readonly number[]): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += pieces.at(-1)?.length ?? 1) {
    pieces.push(text.slice(at, at + (sizes[pieces.length % sizes.length] ?? 1)));
  }
  return pieces;
}

const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 12 });

/** Ordinary text, and what looks like a key at first. */
const words = fc
  .array(
    fc.oneof(
      fc.string({ maxLength: 12 }),
      fc.integer({ min: 1, max: 16 }).map((length) => KEY.slice(0, length)),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(' '));

describe('a secret in pieces', () => {
  it('is hidden behind at most three characters, however it is cut', () => {
    const property = fc.property(words, words, sizes, (before, after, cuts) => {
      const shown = written(cut(`${before} ${KEY} ${after}`, cuts));
      const expected = [0, 1, 2, 3].map((length) => `${before} ${KEY.slice(0, length)}[redacted] ${after}`);
      expect(expected).toContain(shown);
    });
    fc.assert(property, { numRuns: 300 });
  });

  it('leaves any other text as it is, event by event', () => {
    const property = fc.property(words, sizes, (text, cuts) => {
      const mask = maskOf();
      const events = cut(text, cuts).map(piece);
      const passed = [...events.flatMap((event) => mask.mask([event])), ...mask.release()];
      expect(passed).toEqual(events);
      expect(passed.every((event, index) => event === events[index])).toBe(true);
    });
    fc.assert(property, { numRuns: 300 });
  });

  it('is hidden as often as it comes, and beside another one', () => {
    const other = 'sk-proj-a1B2ZZZZZZZZZZZZZZZZZZZZ';
    for (let size = 4; size < 20; size++) {
      const text = `${KEY}${KEY} or ${other}${KEY}.`;
      const shown = written(cut(text, [size]), [KEY, other]);
      expect(shown.replace(/(?:sk-?|s)(?=\[)/g, '')).toBe('[redacted][redacted] or [redacted][redacted].');
    }
  });

  it('is found where its own beginning comes before it', () => {
    const key = 'aab-aab-aab-cccccccccccc';
    expect(written(['x aab-aab', '-aab-aab-cc', 'cccccccccc.'], [key])).toBe('x aab-[redacted].');
  });

  it('counts as one if more than 16 characters or half of it came', () => {
    expect(written([KEY.slice(0, 10), KEY.slice(10, 16)])).toBe(KEY.slice(0, 16));
    expect(written([KEY.slice(0, 10), KEY.slice(10, 17)])).toBe('[redacted]');
    expect(written([KEY.slice(0, 10), KEY.slice(10, 30), ' and so on'])).toBe('[redacted] and so on');
    const short = 'upstream-secret-8f3a9b2c7d1e';
    expect(written([short.slice(0, 9), short.slice(9, 15)], [short])).toBe('[redacted]');
  });
});

describe('a secret of fewer than 20 characters', () => {
  const short = 'local-secret-17al';

  it('is hidden behind at most three characters, however it is cut', () => {
    // A whole key in one event is the matter of `AnswerMask`.
    const shorter = fc.array(fc.integer({ min: 1, max: short.length - 1 }), { minLength: 1, maxLength: 12 });
    const property = fc.property(words, words, shorter, (before, after, cuts) => {
      const shown = written(cut(`${before} ${short} ${after}`, cuts), [short]);
      const expected = [0, 1, 2, 3].map((length) => `${before} ${short.slice(0, length)}[redacted] ${after}`);
      expect(expected).toContain(shown);
    });
    fc.assert(property, { numRuns: 300 });
  });

  it('leaves text that begins like it, of any length', () => {
    for (let length = 1; length < short.length; length++) {
      const beginning = short.slice(0, length);
      expect(written(['a ', beginning, ' b', beginning.slice(0, 9), beginning.slice(9)], [short])).toBe(
        `a ${beginning} b${beginning}`,
      );
    }
  });

  it('is not whole where something comes between', () => {
    const mask = maskOf([short]);
    const given = [piece(`a ${short.slice(0, 12)}`), PART_END, piece(`${short.slice(12)} b`)];
    expect(textOf(given.flatMap((event) => mask.mask([event])))).toBe('a local-secret[redacted] b');
  });
});

describe('a secret between other texts', () => {
  const thought = (text: string): Event => ({ type: 'text-delta', item: 1, part: 0, kind: 'thought', text });
  const argument = (item: number, text: string): Event => ({ type: 'tool-input-delta', item, text });
  const start = (item: number): Event => ({ type: 'item-start', item, head: { type: 'message' } }) as never;

  it('is hidden, and the others are whole and in order', () => {
    const mask = maskOf();
    const given = cut(`a ${KEY} b`, [4]).flatMap((text) => [piece(text), thought('.')]);
    const passed = [...given.flatMap((event) => mask.mask([event])), ...mask.release()];
    expect(textOf(passed).replaceAll('.', '')).toMatch(/^a (?:sk?)?\[redacted\] b$/);
    expect(passed).toHaveLength(given.length);
    expect(passed.filter((_, index) => index % 2 === 1)).toEqual(given.filter((_, index) => index % 2 === 1));
  });

  it('is hidden in the arguments of one of several calls', () => {
    const mask = maskOf();
    const given = cut(KEY, [4]).flatMap((text) => [argument(3, text), argument(4, '{"a":1}')]);
    const passed = [...given.flatMap((event) => mask.mask([event])), ...mask.release()];
    const textOfItem = (item: number) =>
      passed
        .map((event) => ('item' in event && event.item === item && 'text' in event ? event.text : ''))
        .join('');
    expect(textOfItem(3)).toBe('[redacted]');
    expect(textOfItem(4)).toBe('{"a":1}'.repeat(8));
  });

  it('is hidden after its first 16 characters if something else always comes between', () => {
    const mask = maskOf();
    const given = cut(KEY, [4]).flatMap((text, index) => [start(index), piece(text)]);
    const passed = [...given.flatMap((event) => mask.mask([event])), ...mask.release()];
    expect(textOf(passed)).toBe(`${KEY.slice(0, 16)}[redacted]`);
  });
});

describe('events that are held back', () => {
  it('are few and small, however often a beginning comes', () => {
    const mask = maskOf();
    const many = Array.from({ length: 100 }, (_, at) => piece(`${at} sk-proj-`));
    for (const [index, event] of many.entries()) {
      expect(mask.mask([event])).toEqual(index === 0 ? [] : [many[index - 1]]);
    }
    expect(mask.release()).toEqual([many[99]]);
    const large = piece(`${'x'.repeat(70_000)}sk-proj-`);
    expect(mask.mask([large])).toEqual([large]);
    expect(textOf(mask.mask([piece(`${KEY.slice(8)}!`)]))).toBe('[redacted]!');
  });

  it('are few: only text that ends with four characters of a secret', () => {
    const mask = maskOf();
    for (const text of ['keys begin with s', 'k-', 'p', ' or s', 'k-']) {
      expect(mask.mask([piece(text)])).toHaveLength(text === 'p' ? 0 : text === ' or s' ? 2 : 1);
    }
  });

  it('pass before what ends the text, and in order with what does not', () => {
    const mask = maskOf();
    expect(mask.mask([piece('a sk-proj-'), USAGE])).toEqual([]);
    expect(mask.mask([PART_END])).toEqual([piece('a sk-proj-'), USAGE, PART_END]);
    expect(mask.mask([piece('b'), piece('sk-pr')])).toEqual([piece('b')]);
    expect(mask.release()).toEqual([piece('sk-pr')]);
    expect(mask.release()).toEqual([]);
  });

  it('pass if they are followed by empty ones only', () => {
    const mask = maskOf();
    const given = [piece('sk-proj-'), ...Array.from({ length: 40 }, () => piece(''))];
    expect(given.flatMap((event) => mask.mask([event])).length).toBeGreaterThan(30);
  });

  it('pass with the end of a secret that was shown in part hidden', () => {
    const mask = maskOf();
    const passed = [
      ...mask.mask([piece(KEY.slice(0, 9)), PART_END]),
      ...mask.mask([piece(KEY.slice(9, 20))]),
      ...mask.mask([piece(`${KEY.slice(20)}!`)]),
    ];
    expect(textOf(passed)).toBe(`${KEY.slice(0, 9)}[redacted]!`);
  });
});

describe('a secret in relayed frames', () => {
  const relayed = (text: string, more: object = {}): Event => {
    const value = { delta: { text }, index: 0, ...more };
    const frame = { data: JSON.stringify(value) };
    return { type: 'relay', dialect: 'messages', frame, value, events: [piece(text)] };
  };
  const dataOf = (event: Event) => (event.type === 'relay' ? event.frame.data : '');

  it('is hidden, each frame once', () => {
    const mask = maskOf();
    const pieces = [`a ${KEY.slice(0, 12)}`, KEY.slice(12, 20), `${KEY.slice(20)} b`];
    expect(pieces.flatMap((text) => mask.mask([relayed(text)])).map(dataOf)).toEqual([
      '{"delta":{"text":"a [redacted]"},"index":0}',
      '{"delta":{"text":""},"index":0}',
      '{"delta":{"text":" b"},"index":0}',
    ]);
  });

  it('takes its log probabilities along', () => {
    const mask = maskOf();
    const events = [
      ...mask.mask([relayed(KEY.slice(0, 12), { logprobs: { content: [{ token: KEY.slice(0, 12) }] } })]),
      ...mask.mask([relayed(KEY.slice(12), { logprobs: [{ token: KEY.slice(12) }] })]),
    ];
    expect(events.map(dataOf)).toEqual([
      '{"delta":{"text":"[redacted]"},"index":0,"logprobs":null}',
      '{"delta":{"text":""},"index":0,"logprobs":[]}',
    ]);
  });

  it('is no reason to write other frames anew', () => {
    const mask = maskOf();
    const frames = [relayed('see sk-proj-'), relayed('a1B'), relayed(' and so on')];
    const passed = frames.flatMap((frame) => mask.mask([frame]));
    expect(passed).toHaveLength(3);
    expect(passed.every((event, index) => event === frames[index])).toBe(true);
  });
});
