import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Event } from '../../ir/events.ts';
import { AnswerMask, MaskedText, SplitMask } from './answer-mask.ts';

const KEY = 'sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2';

const piece = (text: string): Event => ({ type: 'text-delta', item: 0, part: 0, kind: 'text', text });

/** What is left of pieces of text. */
function written(pieces: readonly string[], keys = [KEY]): string {
  const split = new SplitMask(AnswerMask.of({ keys }));
  return pieces
    .flatMap((text) => split.mask([piece(text)]))
    .map((event) => (event.type === 'text-delta' ? event.text : ''))
    .join('');
}

describe('the mask of an answer', () => {
  it('removes secrets as JSON writes them', () => {
    const mask = AnswerMask.of({ keys: ['abc/def+123456=='], tokens: ['ya29.token-1'] });
    expect(mask.text('"abc/def+123456==" "abc\\/def+123456==" "abc/def\\u002b123456\\u003d\\u003d"')).toBe(
      '"[redacted]" "[redacted]" "[redacted]"',
    );
    expect(mask.text('say ya29.token-1!')).toBe('say [redacted]!');
  });

  it.each(['ollama', 'lm-studio', 'sk-no-key-required', 'not-needed', 'placeholder'])(
    'leaves words alone that stand for no key: %s',
    (key) => {
      expect(AnswerMask.of({ keys: [key] }).text(`use ${key} here`)).toBe(`use ${key} here`);
    },
  );

  it('finds a secret in text however it is cut', () => {
    const text = `{"a":"${KEY}","b":"${KEY}${KEY}"}`;
    for (let size = 1; size < text.length; size++) {
      const masked = new MaskedText(AnswerMask.of({ keys: [KEY] }));
      let out = '';
      for (let at = 0; at < text.length; at += size) out += masked.push(text.slice(at, at + size));
      expect(out + masked.end()).toBe('{"a":"[redacted]","b":"[redacted][redacted]"}');
    }
  });
});

describe('a secret in pieces', () => {
  it('is hidden behind its first characters, however it is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 8 }), (sizes) => {
        const text = `The key is ${KEY}, she said.`;
        const pieces: string[] = [];
        for (let at = 0, turn = 0; at < text.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1;
          pieces.push(text.slice(at, at + size));
          at += size;
        }
        expect(written(pieces)).toBe(`The key is ${KEY.slice(0, 16)}[redacted], she said.`);
      }),
    );
  });

  it('is not taken for text that only begins alike', () => {
    expect(written(['Keys begin with s', 'k-proj-', ', as in sk-proj-', 'a1B', ' and so on'])).toBe(
      'Keys begin with sk-proj-, as in sk-proj-a1B and so on',
    );
    expect(written(['sk-sk-proj-a1', 'sk-proj-a1B2c3D4e5F6g7H8i9J', '0k1L2.'])).toBe(
      'sk-sk-proj-a1sk-proj-a1B2c3D4[redacted].',
    );
  });

  it('is hidden in relayed frames too', () => {
    const split = new SplitMask(AnswerMask.of({ keys: [KEY] }));
    const relayed = (text: string): Event => {
      const value = { delta: { text }, index: 0 };
      const frame = { data: JSON.stringify(value) };
      return { type: 'relay', dialect: 'messages', frame, value, events: [piece(text)] };
    };
    const pieces = [KEY.slice(0, 12), KEY.slice(12, 20), KEY.slice(20)];
    const data = pieces.map((text) => {
      const [event] = split.mask([relayed(text)]);
      return event?.type === 'relay' ? event.frame.data : '';
    });
    expect(data).toEqual([
      '{"delta":{"text":"sk-proj-a1B2"},"index":0}',
      '{"delta":{"text":"c3D4[redacted]"},"index":0}',
      '{"delta":{"text":""},"index":0}',
    ]);
  });
});
