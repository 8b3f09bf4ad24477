import { describe, expect, it } from 'vitest';
import { AnswerMask, MaskedText } from './answer-mask.ts';

const KEY = 'sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2';

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

  it('does not look for long keys of a few letters, which would take very long', () => {
    const key = `${'a'.repeat(255)}b${'a'.repeat(255)}`;
    expect(AnswerMask.of({ keys: [key] })).toMatchObject({ longest: 0, splittable: [] });
    const long = KEY.repeat(10);
    expect(AnswerMask.of({ keys: [long] }).text(`x ${long}`)).toBe('x [redacted]');
  });

  it('takes the log probabilities of a frame with a secret along, and leaves those of others', () => {
    const mask = AnswerMask.of({ keys: [KEY] });
    const frame = (text: string) => ({
      data: JSON.stringify({
        text,
        logprobs: [{ token: text.slice(0, 9) }],
        a: { logprobs: { content: [1] } },
      }),
    });
    expect(mask.frame(frame(KEY)).data).toBe('{"text":"[redacted]","logprobs":[],"a":{"logprobs":null}}');
    const other = frame('hello');
    expect(mask.frame(other)).toBe(other);
    expect(mask.frame({ data: `${KEY} "logprobs"` }).data).toBe('[redacted] "logprobs"');
  });

  it('finds a secret in text however it is cut', () => {
    const text = `{"a":"${KEY}","b":"${KEY}${KEY}"}`;
    for (let size = 1; size < text.length; size++) {
      const masked = new MaskedText(AnswerMask.of({ keys: [KEY] }));
      let out = '';
      for (let at = 0; at < text.length; at += size) out += masked.push(text.slice(at, at + size));
      expect(out + masked.end()).toBe('{"a":"[redacted]","b":"[redacted][redacted]"}');
      expect(masked.hasMasked).toBe(true);
    }
  });
});
