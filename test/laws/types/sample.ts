import type { Json, JsonObject } from '../../../src/kit/json/json.ts';
import { pdfOf } from '../../kit/builders/pdf.ts';
import { alternativesOf, type ObjectShape, type Shape, tagOf } from './shape.ts';

/** Which of two different values is meant: a request and the one that it is compared with differ in one. */
export type Variant = 0 | 1;

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const OTHER_PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const PDF = pdfOf('one').toString('base64');
const OTHER_PDF = pdfOf('two').toString('base64');

function objectSchema(name: string): JsonObject {
  return {
    type: 'object',
    properties: { [name]: { type: 'string' } },
    required: [name],
    additionalProperties: false,
  };
}

/** Two values for a member of a name, where not any text or number will do. */
const BY_NAME: Readonly<Record<string, readonly [Json, Json]>> = {
  arguments: ['{"a":1}', '{"a":2}'],
  authorization: ['Bearer one', 'Bearer two'],
  budget_tokens: [1024, 1536],
  city: ['Berlin', 'Hamburg'],
  country: ['DE', 'FR'],
  connector_id: ['connector_gmail', 'connector_dropbox'],
  data: [PNG, OTHER_PNG],
  avgLogprobs: [-0.5, -0.25],
  definition: ['start: "a"', 'start: "b"'],
  file_data: [`data:application/pdf;base64,${PDF}`, `data:application/pdf;base64,${OTHER_PDF}`],
  file_url: ['https://files.invalid/a.pdf', 'https://files.invalid/b.pdf'],
  endIndex: [2, 1],
  filename: ['a.pdf', 'b.pdf'],
  groundingChunkIndices: [[0], [0]],
  image_url: ['https://files.invalid/a.png', 'https://files.invalid/b.png'],
  input_schema: [
    { type: 'object', properties: { a: {} } },
    { type: 'object', properties: { b: {} } },
  ],
  json_schema: [
    { name: 'one', schema: objectSchema('a') },
    { name: 'two', schema: objectSchema('b') },
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
  schema: [objectSchema('a'), objectSchema('b')],
  repetition_penalty: [1.1, 1.2],
  server_url: ['https://mcp.invalid/a', 'https://mcp.invalid/b'],
  startIndex: [0, 1],
  temperature: [0.5, 0.6],
  timezone: ['Europe/Berlin', 'Europe/Paris'],
  top_logprobs: [2, 3],
  top_p: [0.5, 0.6],
  video_url: ['https://files.invalid/a.mp4', 'https://files.invalid/b.mp4'],
  uri: ['https://files.invalid/a', 'https://files.invalid/b'],
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
  'candidates.groundingMetadata.groundingSupports.segment.text': ['Hi', 'i'],
  'candidates.finishReason': ['STOP', 'MAX_TOKENS'],
  'candidates.index': [0, 1],
  'promptFeedback.blockReason': ['SAFETY', 'OTHER'],
  'candidates.tokenCount': [4, 5],
  'tokens.total': [20_000, 30_000],
};

/** Members that the types call optional although the API wants one of several. */
const NEEDED: Readonly<Record<string, JsonObject>> = {
  'custom.input_schema': { type: 'object' },
  'file.file': { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` },
  function_call_output: { call_id: 'call_1' },
  input_file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` },
  input_image: { image_url: 'https://files.invalid/a.png' },
  'json_schema.json_schema': { schema: objectSchema('a') },
  'reasoning.text': { text: 'Thoughts.' },
  'chunk.choices.delta.function_call': { name: 'lookup', arguments: '{}' },
  'chunk.choices.delta.tool_calls': {
    index: 0,
    id: 'call_1',
    type: 'function',
    function: { name: 'lookup', arguments: '{}' },
  },
};

/** How many levels of objects are shown with all of their members, so that what surrounds a member is real content. */
const FULL_LEVELS = 4;

/** Objects that are one of several things, by the name of their type: the things, and which of them is usual. */
const ONE_OF: Readonly<Record<string, { readonly usual: string; readonly things: readonly string[] }>> = {
  Part: {
    usual: 'text',
    things: [
      'text',
      'toolCall',
      'toolResponse',
      'audioTranscription',
      'codeExecutionResult',
      'executableCode',
      'fileData',
      'functionCall',
      'functionResponse',
      'inlineData',
    ],
  },
  GroundingChunk: { usual: 'web', things: ['web', 'maps', 'image', 'retrievedContext'] },
  FunctionResponsePart: { usual: 'inlineData', things: ['inlineData', 'fileData'] },
};

/** Members of an object by the name of its type, where its tag does not say what they hold. */
const OF_TYPE: Readonly<Record<string, JsonObject>> = {
  Base64PDFSource: { data: PDF },
  'Tool.Mcp': { server_url: 'https://mcp.invalid/a' },
};

/** One name for the types of the released and of the beta API. */
export function plainName(name: string): string {
  return name.replace(/^Beta/, '');
}

/** A value of a shape. `owner`: the object that has the member, by its tag or place. */
export function sampleOf(shape: Shape, variant: Variant, member = '', owner = '', levels = 0): Json {
  const given = BY_OWNER[`${owner}.${member}`] ?? BY_NAME[member];
  // A single literal is the one that is probed.
  if (given !== undefined && shape.kind !== 'literal' && fits(given[variant], shape)) return given[variant];
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
      return [sampleOf(shape.of, variant, member, owner, levels)];
    case 'map':
      return { key: sampleOf(shape.of, variant, '', owner, levels) };
    case 'union':
      return sampleOf(simplest(shape.of), variant, member, owner, levels);
    case 'object':
      return objectOf(shape, variant, ownerOf(shape, member, owner), levels);
  }
}

/** An object with its required members only. `owner`: what `ownerOf` calls it. */
export function minimalOf(shape: ObjectShape, variant: Variant, owner: string): JsonObject {
  return objectOf(shape, variant, owner, 0);
}

/** A value with all that it may have. */
export function fullSampleOf(shape: Shape, variant: Variant, member: string, owner: string): Json {
  return sampleOf(shape, variant, member, owner, FULL_LEVELS);
}

/** What surrounds a member of an object that is shown with all that it may have. */
export function fullAround(shape: ObjectShape, owner: string, member: string): JsonObject {
  const choice = ONE_OF[shape.name ?? ''];
  return choice?.things.includes(member) ? {} : objectOf(shape, 0, owner, FULL_LEVELS);
}

function objectOf(shape: ObjectShape, variant: Variant, owner: string, levels: number): JsonObject {
  const choice = ONE_OF[shape.name ?? ''];
  const shown = shape.members.filter(({ name, isOptional, isHeader }) => {
    if (isHeader) return false;
    return !isOptional || (levels > 0 && (choice === undefined || choice.usual === name));
  });
  const values = shown.map(({ name, shape: of }) => [name, sampleOf(of, variant, name, owner, levels - 1)]);
  return { ...Object.fromEntries(values), ...neededIn(shape, owner) };
}

/** Members that an object needs, whatever its type says. */
export function neededIn(shape: ObjectShape, owner: string): JsonObject {
  return { ...NEEDED[owner], ...OF_TYPE[plainName(shape.name ?? '')] };
}

/** True if a value says something: a text, a number, a word, however deep. */
export function hasSubstance(value: Json | undefined): boolean {
  if (value === null || value === undefined) return false;
  return typeof value === 'object' ? Object.values(value).some(hasSubstance) : true;
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
  const text = shapes.find(
    (shape) => shape.kind === 'object' && shape.name?.endsWith('.TextMember') === true,
  );
  return text ?? shapes.reduce((best, shape) => (rank(shape) < rank(best) ? shape : best));
}

function fits(value: Json, shape: Shape): boolean {
  return alternativesOf(shape).some((each) => {
    const { kind } = each;
    if (kind === 'unknown') return true;
    if (kind === 'literal') return each.value === value;
    if (typeof value === 'string') return kind === 'string';
    if (typeof value === 'number') return kind === 'number';
    if (Array.isArray(value)) return kind === 'list';
    return kind === 'map' || (kind === 'object' && alternativesOf(shape).length === 1);
  });
}
