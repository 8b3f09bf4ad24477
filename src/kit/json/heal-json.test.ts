import { describe, expect, it } from 'vitest';
import { processorMs } from '../../../test/builders/processor-ms.ts';
import { healJson } from './heal-json.ts';
import { isJsonObject } from './json.ts';

describe('JSON that is nearly so', () => {
  it.each([
    ['a code fence', '```json\n{"a": 1}\n```', { a: 1 }],
    ['words around a fence', 'Here it is:\n```\n{"a": 1}\n```\nAnything else?', { a: 1 }],
    ['words around it', 'Sure! {"a": [1, 2]} Hope that helps.', { a: [1, 2] }],
    ['trailing commas', '{"a": 1, "b": [1, 2,],}', { a: 1, b: [1, 2] }],
    ['keys without quotes', '{a: 1, b: "x"}', { a: 1, b: 'x' }],
    ['single quotes', "{'a': 'it'}", { a: 'it' }],
    ['brackets that were not closed', '{"a": {"b": [1, 2', { a: { b: [1, 2] } }],
    ['words of another language', '{"a": True, "b": None}', { a: true, b: null }],
    ['a comment', '{"a": 1 /* one */}', { a: 1 }],
  ])('is made JSON: %s', (_, text, value) => {
    expect(JSON.parse(healJson(text, isJsonObject) ?? 'null')).toEqual(value);
  });

  it.each([
    ['is JSON', '{"a": 1}'],
    ['holds none', 'I cannot do that.'],
    ['is empty', ''],
    ['is something else than was asked for', '[1, 2]'],
    ['is too long to be looked at', `{"a": "${'x'.repeat(300_000)}"`],
    ['is nested too deeply', '['.repeat(5000)],
  ])('is left as it is where it %s', (_, text) => {
    expect(healJson(text, isJsonObject)).toBeUndefined();
  });

  it('is not made something that the check refuses', () => {
    expect(healJson('{a: 1}', () => false)).toBeUndefined();
  });

  it('is left as it is from 32 KiB on, which takes too long to repair', () => {
    const text = `{a: [${'{b: "xxxxxxxxxx", c: 1,},'.repeat(1400)}]}`;
    expect(text.length).toBeGreaterThan(32_768);
    expect(healJson(text, isJsonObject)).toBeUndefined();
  });

  it('takes no longer than a turn may take, whatever the text is', () => {
    for (const text of [
      '{'.repeat(100_000),
      '{"a":'.repeat(50_000),
      '"'.repeat(200_000),
      '{a '.repeat(80_000),
    ]) {
      expect(processorMs(() => healJson(text, isJsonObject))).toBeLessThan(2000);
    }
  });
});
