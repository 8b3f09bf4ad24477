import type { Json, JsonObject } from '../../src/kit/json/json.ts';
import { alternativesOf, type ObjectShape, type Shape, tagOf } from './shape.ts';

/** Which of two different values is meant: a request and the one that it is compared with differ in one. */
export type Variant = 0 | 1;

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const OTHER_PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const PDF = Buffer.from('%PDF-1.4 one').toString('base64');
const OTHER_PDF = Buffer.from('%PDF-1.4 two').toString('base64');

/** Two values for a member of a name, where not any text or number will do. */
const BY_NAME: Readonly<Record<string, readonly [Json, Json]>> = {
  arguments: ['{"a":1}', '{"a":2}'],
  authorization: ['Bearer one', 'Bearer two'],
  budget_tokens: [1024, 1536],
  city: ['Berlin', 'Hamburg'],
  country: ['DE', 'FR'],
  connector_id: ['connector_gmail', 'connector_dropbox'],
  data: [PNG, OTHER_PNG],
  definition: ['start: "a"', 'start: "b"'],
  file_data: [`data:application/pdf;base64,${PDF}`, `data:application/pdf;base64,${OTHER_PDF}`],
  file_url: ['https://files.invalid/a.pdf', 'https://files.invalid/b.pdf'],
  filename: ['a.pdf', 'b.pdf'],
  image_url: ['https://files.invalid/a.png', 'https://files.invalid/b.png'],
  input_schema: [
    { type: 'object', properties: { a: {} } },
    { type: 'object', properties: { b: {} } },
  ],
  json_schema: [
    { name: 'one', schema: { type: 'object' } },
    { name: 'two', schema: { type: 'object' } },
  ],
  max_output_tokens: [2000, 3000],
  max_tokens: [2000, 3000],
  max_completion_tokens: [2000, 3000],
  models: ['acme/other', 'acme/another'],
  name: ['lookup', 'lookup_too'],
  parameters: [
    { type: 'object', properties: { a: {} } },
    { type: 'object', properties: { b: {} } },
  ],
  schema: [
    { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false },
    { type: 'object', properties: { b: { type: 'string' } }, required: ['b'], additionalProperties: false },
  ],
  repetition_penalty: [1.1, 1.2],
  server_url: ['https://mcp.invalid/a', 'https://mcp.invalid/b'],
  temperature: [0.5, 0.6],
  timezone: ['Europe/Berlin', 'Europe/Paris'],
  top_logprobs: [2, 3],
  top_p: [0.5, 0.6],
  video_url: ['https://files.invalid/a.mp4', 'https://files.invalid/b.mp4'],
  url: ['https://files.invalid/a.png', 'https://files.invalid/b.png'],
};

/** The same for a member of one kind of object. */
const BY_OWNER: Readonly<Record<string, readonly [Json, Json]>> = {
  'allowed_tools.tools': [
    { type: 'function', name: 'lookup' },
    { type: 'function', name: 'lookup_too' },
  ],
  'allowed_tools.allowed_tools.tools': [
    { type: 'function', function: { name: 'lookup' } },
    { type: 'function', function: { name: 'lookup_too' } },
  ],
  'custom.input_schema.type': ['object', 'object'],
  'fallbacks.model': ['acme/other', 'acme/another'],
  'image_generation_call.result': [PNG, OTHER_PNG],
  'provider.max_price.prompt': ['1', '2'],
  'provider.max_price.completion': ['1', '2'],
  'provider.max_price.request': ['1', '2'],
  'provider.max_price.image': ['1', '2'],
  'provider.max_price.audio': ['1', '2'],
  'tokens.total': [20_000, 30_000],
};

/** Members that the types call optional although the API wants one of several. */
export const NEEDED: Readonly<Record<string, JsonObject>> = {
  'custom.input_schema': { type: 'object' },
  'file.file': { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` },
  function_call_output: { call_id: 'call_1' },
  input_file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` },
  input_image: { image_url: 'https://files.invalid/a.png' },
  mcp: { server_url: 'https://mcp.invalid/a' },
  'reasoning.text': { text: 'Thoughts.' },
  'chunk.choices.delta.function_call': { name: 'lookup', arguments: '{}' },
  'chunk.choices.delta.tool_calls': {
    index: 0,
    id: 'call_1',
    type: 'function',
    function: { name: 'lookup', arguments: '{}' },
  },
};

/** A value of a shape with nothing optional in it. `owner`: the object that has the member, by its tag or place. */
export function sampleOf(shape: Shape, variant: Variant, member = '', owner = ''): Json {
  const given = BY_OWNER[`${owner}.${member}`] ?? BY_NAME[member];
  if (given !== undefined && fits(given[variant], shape)) return given[variant];
  switch (shape.kind) {
    case 'string':
      return `${member === 'text' ? `text of ${owner}` : member || 'text'}_${'ab'[variant]}`;
    case 'number':
      return variant + 1;
    case 'boolean':
      return variant === 0;
    case 'literal':
      return shape.value;
    case 'unknown':
      return { key: `value_${'ab'[variant]}` };
    case 'list':
      return [sampleOf(shape.of, variant, member, owner)];
    case 'map':
      return { key: sampleOf(shape.of, variant, '', owner) };
    case 'union':
      return sampleOf(simplest(shape.of), variant, member, owner);
    case 'object':
      return minimalOf(shape, variant, ownerOf(shape, member, owner));
  }
}

/** An object with its required members only. `owner`: what `ownerOf` calls it. */
export function minimalOf(shape: ObjectShape, variant: Variant, owner: string): JsonObject {
  const required = shape.members.filter(({ isOptional, isHeader }) => !isOptional && !isHeader);
  const values = required.map(({ name, shape: of }) => [name, sampleOf(of, variant, name, owner)]);
  return { ...Object.fromEntries(values), ...NEEDED[owner] };
}

/** The name of an object: its tag, or else where it stands. */
export function ownerOf(shape: ObjectShape, member: string, owner: string): string {
  return tagOf(shape)?.value ?? (owner === '' ? member : `${owner}.${member}`);
}

/** The alternative that says the least about its surroundings. */
function simplest(shapes: readonly Shape[]): Shape {
  const order = ['literal', 'string', 'number', 'boolean', 'object', 'map', 'list', 'unknown'];
  const rank = (shape: Shape) =>
    shape.kind === 'literal' && shape.value === null ? order.length : order.indexOf(shape.kind);
  return shapes.reduce((best, shape) => (rank(shape) < rank(best) ? shape : best));
}

function fits(value: Json, shape: Shape): boolean {
  return alternativesOf(shape).some(({ kind }) => {
    if (kind === 'unknown') return true;
    if (typeof value === 'string') return kind === 'string';
    if (typeof value === 'number') return kind === 'number';
    if (Array.isArray(value)) return kind === 'list';
    return kind === 'map' || (kind === 'object' && alternativesOf(shape).length === 1);
  });
}
