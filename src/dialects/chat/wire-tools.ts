import Type from 'typebox';
import { nullish, openOneOf, openUnion, otherThan, taggedUnion } from '../../kit/json/schema.ts';
import { MAX_TOOLS } from '../shared/requests/gateway-fields.ts';
import { cacheControl } from './wire-content.ts';

/** Schemas of tools and the choice among them. */

const functionToolSchema = Type.Object({
  type: Type.Literal('function'),
  function: Type.Object({
    name: Type.String({ minLength: 1 }),
    description: nullish(Type.String()),
    parameters: nullish(Type.Object({})),
    strict: nullish(Type.Boolean()),
  }),
  ...cacheControl,
});

/** Some callers write a grammar as the responses format does, without the object around it. */
const grammarFields = {
  syntax: nullish(openOneOf(['lark', 'regex'])),
  definition: nullish(Type.String()),
};

const customToolSchema = Type.Object({
  type: Type.Literal('custom'),
  custom: Type.Object({
    name: Type.String({ minLength: 1 }),
    description: nullish(Type.String()),
    format: nullish(
      openUnion('type', [
        Type.Object({ type: Type.Literal('text') }),
        Type.Object({
          type: Type.Literal('grammar'),
          grammar: nullish(Type.Object(grammarFields)),
          ...grammarFields,
        }),
      ]),
    ),
  }),
});

/** Types of tools that providers or the gateway run: the format has none, and providers have names of their own. */
const HOSTED_TYPES =
  ':|search|^(?:web_fetch|code_(?:interpreter|execution)|mcp|advisor)|^(?:builtin_function|image_generation|shell)$';

const hostedToolSchema = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  open: true,
  required: ['type'],
  properties: {
    type: {
      anyOf: [
        { type: 'string', pattern: HOSTED_TYPES },
        { type: 'string', minLength: 1, not: { enum: ['function', 'custom'] }, unlisted: true },
      ],
    },
    parameters: { anyOf: [{ type: 'object' }, { type: 'null' }] },
  },
});

export const toolSchema = taggedUnion('type', [functionToolSchema, customToolSchema, hostedToolSchema]);

// --- The choice among them ------------------------------------------------------------------------------------------

const namedFunctionSchema = Type.Object({
  type: Type.Literal('function'),
  function: Type.Object({ name: Type.String({ minLength: 1 }) }),
});
const namedCustomSchema = Type.Object({
  type: Type.Literal('custom'),
  custom: Type.Object({ name: Type.String({ minLength: 1 }) }),
});

export const toolChoiceSchema = Type.Optional(
  taggedUnion('type', [
    openOneOf(['auto', 'none', 'required'], { type: 'string' }),
    namedFunctionSchema,
    namedCustomSchema,
    Type.Object({
      type: Type.Literal('allowed_tools'),
      allowed_tools: Type.Object({
        mode: openOneOf(['auto', 'required']),
        tools: Type.Array(
          taggedUnion('type', [
            namedFunctionSchema,
            namedCustomSchema,
            otherThan('type', ['function', 'custom'], []),
          ]),
          { maxItems: MAX_TOOLS },
        ),
      }),
    }),
    otherThan('type', ['function', 'custom', 'allowed_tools']),
    Type.Null(),
  ]),
);
