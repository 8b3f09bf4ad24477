import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { processorMs } from '../../../test/kit/builders/processor-ms.ts';
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
    ['a bracket in a string, the last one missing', '{"a":"x } y","b":"kept"', { a: 'x } y', b: 'kept' }],
    ['a quote and a bracket in a string', '{"a":"quote \\" and } brace"', { a: 'quote " and } brace' }],
    ['a bracket in a string of a list', '{"items":["a]b","c"', { items: ['a]b', 'c'] }],
    ['words with brackets before it', 'Note {draft}: {"a":1}', { a: 1 }],
    ['words with brackets around what needs repair', 'Note [draft]: {a: 1,}', { a: 1 }],
    ['words with brackets after it', '{"a": {"b": 1}} (see [1])', { a: { b: 1 } }],
    ['words with a quoted name before it', 'Here is the "answer": {"a": 1}', { a: 1 }],
  ])('is made JSON: %s', (_, text, value) => {
    expect(JSON.parse(healJson(text, isJsonObject)?.text ?? 'null')).toEqual(value);
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

  it.each([
    ['members follow the closing bracket', '{"a": 1}, "b": 2}'],
    ['members stand before the bracket', '"a": 1, "b": {"c": 2}'],
    ['two values would do', '{"a": 1} or {"a": 2}'],
    ['words follow a string that was never closed', '{"a":"x } y","b":"kept, I hope'],
  ])('keeps all members, or is left as it is: %s', (_, text) => {
    const healed = healJson(text, isJsonObject);
    const names = [...text.matchAll(/"(\w)":/g)].map(([, name]) => name);
    if (healed !== undefined) for (const name of names) expect(healed.text).toContain(`"${name}"`);
  });

  it('loses no member to a missing end', () => {
    const text = fc.string({
      unit: fc.constantFrom('x', '{', '}', '[', ']', ',', ':', '"', ' '),
      maxLength: 12,
    });
    const value = fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), fc.oneof(text, fc.array(text)), {
      minKeys: 1,
    });
    fc.assert(
      fc.property(value, fc.constantFrom('', 'Sure! ', '```json\n'), (given, before) => {
        const healed = healJson(`${before}${JSON.stringify(given).slice(0, -1)}`, isJsonObject);
        if (healed !== undefined) expect(JSON.parse(healed.text)).toEqual(given);
      }),
    );
  });

  it('says what was guessed and removed', () => {
    expect(healJson('Sure! {"a": 1}', isJsonObject)).toEqual({
      text: '{"a": 1}',
      isRepaired: false,
      removedCharacters: 6,
    });
    expect(healJson('{a: 1', isJsonObject)).toMatchObject({ isRepaired: true, removedCharacters: 0 });
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
      '{'.repeat(32_000),
      '{"a":'.repeat(6_000),
      '"'.repeat(32_000),
      ',"'.repeat(16_000),
      '{"a":1}'.repeat(4_000),
    ]) {
      expect(processorMs(() => healJson(text, isJsonObject))).toBeLessThan(2000);
    }
  });
});
