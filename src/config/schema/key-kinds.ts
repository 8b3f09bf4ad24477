import Type, { type TSchema } from 'typebox';
import { closed, described } from '../../kit/json/schema.ts';
import type { Unit } from './units.ts';

/** Kinds of keys that several sections of the configuration file have. */

export const MAX_TIMER_MS = 2_147_483_647;

export function withDefault<T extends TSchema>(schema: T, value: unknown): T {
  return { ...schema, default: value };
}

/** A section whose keys all have defaults, with what it is for. */
export function section<T extends Parameters<typeof closed>[0]>(description: string, properties: T) {
  return withDefault(closed(properties, { description }), {});
}

/** A number whose key ends in its unit; the file may write it with any unit of that kind. */
const quantity = (unit: Unit, value: number, minimum: number, maximum: number) =>
  withDefault(Type.Integer({ minimum, maximum, unit }), value);
export const count = (value: number) =>
  withDefault(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), value);
export const milliseconds = (value: number, minimum = 1) => quantity('ms', value, minimum, MAX_TIMER_MS);
export const bytes = (value: number, minimum = 1, maximum = Number.MAX_SAFE_INTEGER) =>
  quantity('bytes', value, minimum, maximum);
export const days = (value: number) => quantity('days', value, 1, Number.MAX_SAFE_INTEGER);
export const text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
export const nullOr = <T extends TSchema>(schema: T) => withDefault(Type.Union([schema, Type.Null()]), null);

/** Names of presets and MCP servers. */
export const label = {
  type: 'string',
  pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$',
  explainPattern: 'must be 1 to 64 letters, digits, "_" and "-", beginning with a letter or digit',
} as const;

export const requestHeaders = withDefault(
  Type.Record(
    Type.String(),
    described('Value of the header of this name.', Type.String({ maxLength: 8192 })),
    {
      propertyNames: {
        type: 'string',
        pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$",
        explainPattern: 'must be the name of a header: letters, digits and "-"',
      },
    },
  ),
  {},
);
