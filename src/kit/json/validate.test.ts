import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { closed, nullish, oneOf, otherThan, taggedUnion } from './schema.ts';
import { compileValidator } from './validate.ts';

const schema = Type.Object({
  name: Type.String({ minLength: 2, maxLength: 4, pattern: '^[a-z]+$' }),
  age: nullish(Type.Integer({ minimum: 0, maximum: 10 })),
  mood: nullish(oneOf(['good', 'bad'])),
  tags: nullish(Type.Array(Type.String(), { minItems: 1, maxItems: 2 })),
  either: nullish(Type.Union([Type.String(), Type.Array(Type.Integer())])),
  order: nullish(Type.Union([oneOf(['up', 'down']), closed({ by: nullish(oneOf(['up', 'down'])) })])),
  closed: nullish(closed({ a: nullish(Type.Number()) })),
  shape: nullish(
    taggedUnion('type', [
      Type.Object({ type: Type.Literal('circle'), radius: Type.Number() }),
      Type.Object({ type: Type.Literal('square'), side: Type.Number() }),
    ]),
  ),
  part: nullish(
    taggedUnion('kind', [
      Type.Object({ kind: Type.Literal('text'), text: Type.String() }),
      otherThan('kind', ['text']),
    ]),
  ),
  labels: nullish(
    Type.Unsafe({
      type: 'object',
      maxProperties: 2,
      propertyNames: { type: 'string', maxLength: 3 },
      additionalProperties: { type: 'string' },
    }),
  ),
  explained: nullish(Type.Object({ x: Type.Number() }, { explain: 'say x' })),
});

const validator = compileValidator(schema);
const issuesOf = (more: object) => validator.issuesOf({ name: 'abc', ...more });

describe('a validator', () => {
  it('has nothing to say about a valid value', () => {
    expect(
      issuesOf({
        age: 10,
        mood: null,
        tags: ['a'],
        either: [1],
        closed: { a: 1 },
        shape: { type: 'square', side: 1 },
        part: { kind: 'novelty', anything: 1 },
        labels: { abc: 'x' },
        unknown: 1,
      }),
    ).toEqual([]);
  });

  it.each([
    [{ name: undefined }, 'name', 'must be a string'],
    [{ name: 'a' }, 'name', 'must have at least 2 characters'],
    [{ name: 'abcde' }, 'name', 'must have at most 4 characters'],
    [{ name: 'ABC' }, 'name', 'must match ^[a-z]+$'],
    [{ age: 11 }, 'age', 'must be <= 10'],
    [{ age: 1.5 }, 'age', 'must be an integer or null'],
    [{ age: 'x' }, 'age', 'must be an integer or null'],
    [{ mood: 'so' }, 'mood', 'must be one of "good", "bad" or null'],
    [{ tags: [] }, 'tags', 'must have at least 1 item'],
    [{ tags: ['a', 'b', 'c'] }, 'tags', 'must have at most 2 items'],
    [{ tags: ['a', 1] }, 'tags[1]', 'must be a string'],
    [{ either: 5 }, 'either', 'must be a string or an array'],
    [{ either: [1, 'x'] }, 'either[1]', 'must be an integer'],
    [{ order: 'left' }, 'order', 'must be one of "up", "down" or an object'],
    [{ order: { by: 'left' } }, 'order.by', 'must be one of "up", "down" or null'],
    [{ order: { to: 'up' } }, 'order.to', 'is not a known field'],
    [{ order: 5 }, 'order', 'must be one of "up", "down" or an object'],
    [{ closed: { b: 1 } }, 'closed.b', 'is not a known field'],
    [{ shape: { type: 'circle' } }, 'shape.radius', 'is required'],
    [{ shape: { type: 'line' } }, 'shape.type', 'must be one of "circle", "square"'],
    [{ shape: {} }, 'shape.type', 'is required'],
    [{ part: { kind: 'text' } }, 'part.text', 'is required'],
    [{ labels: { abcd: 'x' } }, 'labels.abcd', 'key must have at most 3 characters'],
    [{ labels: { a: 1 } }, 'labels.a', 'must be a string'],
    [{ labels: { a: '', b: '', c: '' } }, 'labels', 'must have at most 2 keys'],
    [{ labels: { '[0]': 1 } }, 'labels["[0]"]', 'must be a string'],
    [{ explained: { x: 'no' } }, 'explained', 'say x'],
  ])('names the one thing that is wrong: %j', (more, path, message) => {
    expect(issuesOf(more)).toEqual([{ path, message }]);
  });

  it('says that a field is missing', () => {
    expect(validator.issuesOf({})).toEqual([{ path: 'name', message: 'is required' }]);
    expect(validator.issuesOf(5)).toEqual([{ path: '', message: 'must be an object' }]);
  });

  it('finds all problems, but not without end', () => {
    expect(issuesOf({ age: -1, mood: 'so' }).map(({ path }) => path)).toEqual(['age', 'mood']);
    const many = compileValidator(Type.Array(Type.String()));
    expect(many.issuesOf(Array.from({ length: 1000 }, () => 1))).toHaveLength(20);
  });
});
