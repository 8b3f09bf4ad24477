import { describe, expect, it } from 'vitest';
import {
  DecryptionProblem,
  decrypt,
  encrypt,
  encryptionKeyOf,
  keyIdOf,
  makeEncryptionKey,
} from './encrypt.ts';

const key = encryptionKeyOf(Buffer.alloc(32, 1));
const other = encryptionKeyOf(Buffer.alloc(32, 2));

describe('encrypt', () => {
  it.each(['', 'sk-canary-0123456789', '{"clé":"\u{1F511}"}', 'x'.repeat(100_000)])(
    'gives %# back',
    (text) => {
      expect(decrypt([other, key], encrypt(key, text, 'here'), 'here')).toBe(text);
    },
  );

  it('never makes the same text twice and shows nothing of it', () => {
    const [one, two] = [encrypt(key, 'sk-canary', 'here'), encrypt(key, 'sk-canary', 'here')];
    expect(one).not.toBe(two);
    const parts = one.split('.').map((part) => Buffer.from(part, 'base64url').toString('latin1'));
    for (const shown of [one, ...parts]) expect(shown).not.toContain('canary');
  });

  it('names its key', () => {
    expect(keyIdOf(encrypt(key, 'x', 'here'))).toBe(key.id);
    expect(key.id).toMatch(/^[0-9a-f]{16}$/);
    expect(key.id).not.toBe(other.id);
    expect(makeEncryptionKey().id).not.toBe(makeEncryptionKey().id);
  });
});

describe('decrypt', () => {
  it('refuses text of another place', () => {
    expect(() => decrypt([key], encrypt(key, 'x', 'here'), 'there')).toThrow(DecryptionProblem);
  });

  it('refuses text whose key is missing, or that was relabelled to one that is', () => {
    const text = encrypt(key, 'x', 'here');
    expect(() => decrypt([other], text, 'here')).toThrow('is missing');
    expect(() => decrypt([other], text.replace(key.id, other.id), 'here')).toThrow('was changed');
  });

  it('refuses text with any character changed', () => {
    const text = encrypt(key, 'secret', 'here');
    for (let at = 0; at < text.length; at++) {
      const swapped = text[at] === 'A' ? 'B' : 'A';
      const changed = text.slice(0, at) + swapped + text.slice(at + 1);
      // The last character of base64 may hold bits that mean nothing.
      if (sameBytes(changed, text)) continue;
      expect(() => decrypt([key], changed, 'here'), `at ${at}`).toThrow(DecryptionProblem);
    }
  });

  it('refuses parts of two texts put together', () => {
    const one = encrypt(key, 'one', 'here').split('.');
    const two = encrypt(key, 'two', 'here').split('.');
    expect(() => decrypt([key], [one[0], one[1], one[2], two[3]].join('.'), 'here')).toThrow('was changed');
  });

  it.each(['', 'v1', 'v2.a.b.c', 'v1..', `v1.${key.id}`, `v1.${key.id}.AA.AA`])('refuses %j', (text) => {
    expect(() => decrypt([key], text, 'here')).toThrow(DecryptionProblem);
  });
});

function sameBytes(one: string, other: string): boolean {
  const bytes = (text: string) =>
    text.split('.').map((part) => Buffer.from(part, 'base64url').toString('hex'));
  return one.split('.').length === other.split('.').length && bytes(one).join() === bytes(other).join();
}
