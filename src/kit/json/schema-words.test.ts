import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { nullish, openOneOf, openUnion } from './schema.ts';
import { SchemaWords } from './schema-words.ts';

describe('SchemaWords', () => {
  const part = openUnion(
    'type',
    [
      Type.Object({ type: Type.Literal('text'), text: Type.String() }),
      Type.Object({ type: Type.Literal('image'), detail: nullish(openOneOf(['low', 'high'])) }),
    ],
    { documented: ['fallback'] },
  );
  const words = new SchemaWords([
    Type.Object({ parts: Type.Array(part), include: Type.Array(openOneOf(['a.b'])) }),
    Type.Object({ labels: Type.Record(Type.String(), Type.Object({ colour: Type.String() })) }),
  ]);

  it('has the names of members at any depth, and no others', () => {
    for (const name of ['parts', 'type', 'text', 'detail', 'include', 'labels', 'colour']) {
      expect(words.hasName(name), name).toBe(true);
    }
    for (const name of ['low', 'fallback', 'constructor', '']) expect(words.hasName(name), name).toBe(false);
  });

  it('has listed values under their member only', () => {
    const listed = [
      ['type', 'text'],
      ['type', 'image'],
      ['type', 'fallback'],
      ['detail', 'high'],
      ['include', 'a.b'],
    ];
    for (const [member, value] of listed)
      expect(words.hasValue(member as string, value as string), value).toBe(true);
    expect(words.hasValue('type', 'high')).toBe(false);
    expect(words.hasValue('detail', 'text')).toBe(false);
    expect(words.hasValue('text', 'text')).toBe(false);
  });
});
