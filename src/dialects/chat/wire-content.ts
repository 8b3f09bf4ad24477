import Type from 'typebox';
import { nullish, open, openOneOf, otherThan, taggedUnion } from '../../kit/json/schema.ts';
import { FILE_ID_DESCRIPTION } from '../shared/media/stored-files.ts';
import { cacheControlSchema } from '../shared/requests/gateway-fields.ts';

/** Schemas of messages and their parts. */

// --- Content parts --------------------------------------------------------------------------------------------------

/** Member of parts and tools that may carry a cache mark. */
export const cacheControl = { cache_control: nullish(cacheControlSchema) };

const textPartSchema = Type.Object({ type: Type.Literal('text'), text: Type.String(), ...cacheControl });
const refusalPartSchema = Type.Object({ type: Type.Literal('refusal'), refusal: Type.String() });
const imagePartSchema = Type.Object({
  type: Type.Literal('image_url'),
  image_url: Type.Object({
    url: Type.String({ minLength: 1 }),
    detail: nullish(openOneOf(['auto', 'low', 'high', 'original'])),
  }),
  ...cacheControl,
});
/** A picture that a model made: some SDKs leave out its type. */
const madeImageSchema = Type.Object({
  ...imagePartSchema.properties,
  type: nullish(openOneOf(['image_url'])),
});
const audioPartSchema = Type.Object({
  type: Type.Literal('input_audio'),
  input_audio: Type.Object({ data: Type.String({ minLength: 1 }), format: Type.String({ minLength: 1 }) }),
});
const filePartSchema = Type.Object({
  type: Type.Literal('file'),
  file: Type.Object({
    filename: nullish(Type.String()),
    file_data: nullish(Type.String({ minLength: 1 })),
    file_id: nullish(Type.String({ minLength: 1, description: FILE_ID_DESCRIPTION })),
  }),
  ...cacheControl,
});
const video = { video_url: Type.Object({ url: Type.String({ minLength: 1 }) }) };
const videoPartSchema = Type.Object({ type: Type.Literal('video_url'), ...video });
/** An older name of the same part. */
const inputVideoPartSchema = Type.Object({ type: Type.Literal('input_video'), ...video });

/** Types of content parts that the gateway parses; others stay opaque. */
const PART_TYPES = [
  'text',
  'refusal',
  'image_url',
  'input_audio',
  'file',
  'video_url',
  'input_video',
] as const;

export function isKnownPartType(type: string): boolean {
  return (PART_TYPES as readonly string[]).includes(type);
}

const partSchema = taggedUnion('type', [
  textPartSchema,
  refusalPartSchema,
  imagePartSchema,
  audioPartSchema,
  filePartSchema,
  videoPartSchema,
  inputVideoPartSchema,
  otherThan('type', PART_TYPES, []),
]);

/** Content as text or as a list of parts. Upstreams differ in what they take of instructions besides text. */
export const contentSchema = Type.Union([Type.String(), Type.Array(partSchema)]);

// --- Messages -------------------------------------------------------------------------------------------------------

/** Types of entries of `reasoning_details` that the gateway parses; others stay opaque. */
export const REASONING_DETAIL_TYPES = ['reasoning.text', 'reasoning.summary', 'reasoning.encrypted'] as const;

const detailFields = {
  id: nullish(Type.String()),
  format: nullish(Type.String()),
  index: nullish(Type.Integer({ minimum: 0 })),
};

/** Entries of answers come back as they were: they may have members of their upstream. */
const reasoningDetailSchema = taggedUnion('type', [
  open({
    type: Type.Literal('reasoning.text'),
    text: nullish(Type.String()),
    signature: nullish(Type.String()),
    ...detailFields,
  }),
  open({ type: Type.Literal('reasoning.summary'), summary: Type.String(), ...detailFields }),
  open({ type: Type.Literal('reasoning.encrypted'), data: Type.String(), ...detailFields }),
  otherThan('type', REASONING_DETAIL_TYPES),
]);

const functionCallSchema = Type.Object({ name: Type.String({ minLength: 1 }), arguments: Type.String() });

const toolCallSchema = taggedUnion('type', [
  Type.Object({
    id: Type.String({ minLength: 1 }),
    type: Type.Optional(Type.Literal('function')),
    function: functionCallSchema,
  }),
  Type.Object({
    id: Type.String({ minLength: 1 }),
    type: Type.Literal('custom'),
    custom: Type.Object({ name: Type.String({ minLength: 1 }), input: Type.String() }),
  }),
]);

const name = { name: nullish(Type.String()) };

export const messageSchema = taggedUnion('role', [
  Type.Object({ role: Type.Literal('system'), content: contentSchema, ...name }),
  Type.Object({ role: Type.Literal('developer'), content: contentSchema, ...name }),
  Type.Object({ role: Type.Literal('user'), content: contentSchema, ...name }),
  Type.Object({
    role: Type.Literal('assistant'),
    content: nullish(contentSchema),
    refusal: nullish(Type.String()),
    reasoning: nullish(Type.String()),
    reasoning_content: nullish(Type.String()),
    reasoning_details: nullish(Type.Array(reasoningDetailSchema)),
    tool_calls: nullish(Type.Array(toolCallSchema)),
    function_call: nullish(functionCallSchema),
    images: nullish(Type.Array(madeImageSchema)),
    audio: nullish(Type.Object({})),
    annotations: nullish(Type.Array(Type.Object({}))),
    ...name,
  }),
  Type.Object({
    role: Type.Literal('tool'),
    tool_call_id: Type.String({ minLength: 1 }),
    content: nullish(contentSchema),
    ...name,
  }),
  Type.Object({
    role: Type.Literal('function'),
    name: Type.String({ minLength: 1 }),
    content: nullish(Type.String()),
  }),
]);
