import type { TObject } from 'typebox';
import { invalidRequest } from '../../ir/errors.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';

const COERCIONS: Readonly<Record<string, (text: string) => Json>> = {
  integer: numberOrText,
  number: numberOrText,
  boolean: (text) => (text === 'true' ? true : text === 'false' ? false : text),
};

/**
 * The declared parameters of a query string, in the types that their schema names. What cannot be read stays text, so
 * that validation names it. Lists are separated by commas or given by repeating the name; those whose values may hold
 * commas (`isRepeated`) by repeating it alone.
 */
export function parseQuery(query: URLSearchParams, schema: TObject): JsonObject {
  const values: JsonObject = {};
  for (const [name, property] of Object.entries(schema.properties)) {
    const given = query.getAll(name);
    if (given.length === 0) continue;
    if (given.some((text) => text.includes('\0'))) {
      throw invalidRequest([{ path: name, message: 'must not hold the character U+0000' }]);
    }
    const { type, isNullable, isRepeated } = kindOf(property);
    if (type === 'array') {
      const entries = isRepeated
        ? given
        : given.flatMap((text) => text.split(',')).map((text) => text.trim());
      if (entries.some((text) => text !== '')) values[name] = entries;
    } else if (given.length > 1) {
      throw invalidRequest([{ path: name, message: 'is given more than once' }]);
    } else {
      const text = given[0] ?? '';
      values[name] = isNullable && isNullText(text) ? null : (COERCIONS[type]?.(text) ?? text);
    }
  }
  return values;
}

function numberOrText(text: string): Json {
  return /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : text;
}

interface QueryProperty {
  readonly type?: string;
  readonly anyOf?: readonly QueryProperty[];
  readonly isRepeated?: boolean;
}

interface QueryKind {
  readonly type: string;
  readonly isNullable: boolean;
  readonly isRepeated: boolean;
}

function kindOf(property: unknown): QueryKind {
  const { type, anyOf, isRepeated = false } = property as QueryProperty;
  const branches = anyOf?.map((branch) => branch.type) ?? [type];
  return {
    type: branches.find((branch) => branch !== undefined && branch !== 'null') ?? 'string',
    isNullable: branches.includes('null'),
    isRepeated,
  };
}

/** How clients write a null where a query can have one. */
function isNullText(text: string): boolean {
  return text === '' || text === 'null';
}
