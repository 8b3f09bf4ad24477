import { describe, expect, it } from 'vitest';
import type { RelayedUpstream, ReplyContext } from '../../src/dialects/dialect.ts';
import { DIALECTS } from '../../src/dialects/dialects.ts';
import { GatewayError } from '../../src/ir/errors.ts';
import type { Event } from '../../src/ir/events.ts';
import { Fold } from '../../src/ir/folding/fold.ts';
import type { Format } from '../../src/ir/items.ts';
import type { GenerationRequest } from '../../src/ir/request.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/kit/json/json.ts';
import { define } from '../../src/kit/json/members.ts';
import { compileValidator } from '../../src/kit/json/validate.ts';
import { schemaValue, UnmetSchema } from '../../src/upstream/simulator/schema-value.ts';
import { requestOf } from '../kit/builders/request.ts';
import { runs } from '../kit/builders/runs.ts';
import {
  chatBody,
  chatFrames,
  messagesBody,
  messagesFrames,
  responsesBody,
  responsesFrames,
} from '../kit/fakes/answers.ts';

/** Names that every object inherits, and an object that cannot be made a string, in place of every string there is. */

const NAMES = ['__proto__', 'constructor', 'toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf'];
const HOSTILE: readonly Json[] = [...NAMES, { toString: 1, valueOf: 1 }];

const FORMATS = ['chat', 'messages', 'responses'] as const;

/** The suite tries one of three mutants; three has no factor in common with the number of hostile values. */
const STEP = runs(3, 1);

/** Copies of a value in which one string is replaced, or one object has one member more. */
function* mutants(value: Json | undefined): Generator<Json> {
  let count = 0;
  for (const mutant of allMutants(value)) if (count++ % STEP === 0) yield mutant;
}

function* allMutants(value: Json | undefined): Generator<Json> {
  if (typeof value === 'string') yield* HOSTILE;
  if (Array.isArray(value)) {
    for (const [index, member] of value.entries()) {
      for (const mutant of allMutants(member)) yield value.with(index, mutant);
    }
  }
  if (!isJsonObject(value)) return;
  for (const name of NAMES) yield withMember(value, name, { type: name });
  for (const [name, member] of Object.entries(value)) {
    for (const mutant of allMutants(member)) yield withMember(value, name, mutant);
  }
}

function withMember(object: JsonObject, name: string, value: Json): JsonObject {
  const copy = { ...object };
  define(copy, name, value);
  return copy;
}

// --- Requests
// --------------------------------------------------------------------------------------------------------------

const schema = { type: 'object', properties: { city: { type: 'string', format: 'date' } } };
const image = 'data:image/png;base64,iVBORw0KGgo=';

const BODIES: Readonly<Record<Format, JsonObject>> = {
  responses: {
    model: 'acme/large',
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Hi' },
          { type: 'input_image', image_url: image, detail: 'low' },
          { type: 'input_file', filename: 'a.txt', file_data: 'QQ==' },
          { type: 'input_audio', input_audio: { data: 'QQ==', format: 'mp3' } },
        ],
      },
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 's' }],
        encrypted_content: 'x',
        format: 'openai-responses-v1',
      },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}', status: 'completed' },
      { type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_text', text: '17' }] },
      { type: 'custom_tool_call', call_id: 'c2', name: 'g', input: 'free' },
      { type: 'custom_tool_call_output', call_id: 'c2', output: 'done' },
      {
        type: 'image_generation_call',
        id: 'ig_1',
        status: 'completed',
        result: 'QQ==',
        output_format: 'png',
      },
      {
        type: 'message',
        role: 'assistant',
        id: 'msg_1',
        status: 'completed',
        phase: 'final_answer',
        content: [
          { type: 'output_text', text: 'x', annotations: [{ type: 'url_citation', url: 'https://e.com' }] },
          { type: 'refusal', refusal: 'no' },
        ],
      },
      { type: 'additional_tools', role: 'developer', tools: [{ type: 'function', name: 'h' }] },
      { type: 'something_new', value: 1 },
    ],
    tools: [
      { type: 'function', name: 'f', parameters: schema },
      { type: 'custom', name: 'g', format: { type: 'text' } },
      { type: 'namespace', name: 'n', description: 'd', tools: [{ type: 'function', name: 'h' }] },
      { type: 'web_search' },
      { type: 'acme:datetime' },
    ],
    tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] },
    reasoning: { effort: 'low', summary: 'auto' },
    text: { format: { type: 'json_schema', name: 'o', schema }, verbosity: 'low' },
    service_tier: 'flex',
    truncation: 'auto',
    metadata: { a: 'b' },
    include: ['reasoning.encrypted_content'],
    modalities: ['text'],
    provider: { order: ['acme'], sort: 'price' },
    plugins: [{ id: 'web' }],
  },
  messages: {
    model: 'acme/large',
    max_tokens: 4096,
    system: [{ type: 'text', text: 'Be brief', cache_control: { type: 'ephemeral' } }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QQ==' } },
          { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'x' }] } },
          { type: 'search_result', title: 't', source: 's', content: [{ type: 'text', text: 'x' }] },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 't', signature: 's' },
          { type: 'redacted_thinking', data: 'd' },
          { type: 'tool_use', id: 'toolu_1', name: 'f', input: { city: 'Oslo' }, caller: { type: 'direct' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: '17' }] },
          { type: 'something_new' },
        ],
      },
    ],
    tools: [
      { name: 'f', input_schema: { type: 'object' } },
      { type: 'web_search_20250305', name: 'web_search' },
      { type: 'acme:datetime' },
    ],
    tool_choice: { type: 'tool', name: 'f' },
    thinking: { type: 'enabled', budget_tokens: 1024 },
    output_config: { effort: 'low', format: { type: 'json_schema', schema } },
    service_tier: 'auto',
    metadata: { user_id: 'u' },
  },
  chat: {
    model: 'acme/large',
    messages: [
      { role: 'system', content: 'Be brief' },
      {
        role: 'user',
        name: 'n',
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'image_url', image_url: { url: image, detail: 'low' } },
          { type: 'input_audio', input_audio: { data: 'QQ==', format: 'mp3' } },
          { type: 'file', file: { filename: 'a.txt', file_data: 'QQ==' } },
          { type: 'something_new' },
        ],
      },
      {
        role: 'assistant',
        content: 'x',
        reasoning_details: [
          { type: 'reasoning.text', text: 't', signature: 's', format: 'acme-v1', id: 'r' },
        ],
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } },
          { id: 'c2', type: 'custom', custom: { name: 'g', input: 'x' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: '17' },
      { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: '17' }] },
    ],
    tools: [
      { type: 'function', function: { name: 'f', parameters: schema } },
      { type: 'custom', custom: { name: 'g', format: { type: 'text' } } },
      { type: 'web_search' },
    ],
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] },
    },
    response_format: { type: 'json_schema', json_schema: { name: 'o', schema } },
    reasoning_effort: 'low',
    service_tier: 'flex',
    modalities: ['text'],
    metadata: { a: 'b' },
  },
};

function upstreamOf(format: Format): RelayedUpstream {
  const dialect = DIALECTS[format].upstream;
  if (dialect === undefined) throw new Error(`no upstream dialect ${format}`);
  return dialect;
}

const TARGET = { model: 'large', hashUser: (id: string) => id };

describe.each(FORMATS)('a request in %s', (format) => {
  const { requestSchema, parseRequest } = DIALECTS[format].inbound;
  const validator = compileValidator(requestSchema('acme'));

  /** The error that a caller would get for a body; undefined if it can be sent to every upstream. */
  function refusalOf(body: JsonObject): unknown {
    const issues = validator.issuesOf(body);
    if (issues.length > 0) return issues;
    try {
      const request = parseRequest(body, { vendor: 'acme' });
      for (const upstream of FORMATS) upstreamOf(upstream).renderRequest(request, TARGET);
      upstreamOf(format).renderRelay(request, TARGET);
      return undefined;
    } catch (error) {
      if (error instanceof GatewayError) return error.message;
      throw new Error(JSON.stringify(body), { cause: error });
    }
  }

  it('may hold inherited names anywhere: it is read or refused, never broken', () => {
    expect(refusalOf(BODIES[format])).toBeUndefined();
    let read = 0;
    for (const mutant of mutants(BODIES[format])) if (refusalOf(mutant as JsonObject) === undefined) read++;
    expect(read).toBeGreaterThan(100);
  });
});

// --- Answers
// ---------------------------------------------------------------------------------------------------------------

const CONTENT = {
  text: 'Hello',
  reasoning: 'Let me think',
  tools: [{ name: 'f', arguments: '{"city":"Oslo"}' }],
};
const STREAMS = {
  chat: chatFrames(CONTENT),
  messages: messagesFrames(CONTENT),
  responses: responsesFrames(CONTENT),
};
const WHOLE = {
  chat: chatBody(CONTENT),
  messages: messagesBody(CONTENT),
  responses: responsesBody(CONTENT),
};

function replyTo(request: GenerationRequest): ReplyContext {
  return {
    vendor: 'acme',
    request,
    generationId: 'gen-1',
    createdAtMs: 0,
    now: () => 0,
    model: 'acme/large',
    provider: 'Acme',
    serviceTier: 'default',
  };
}

describe.each(FORMATS)('an answer of an upstream that speaks %s', (format) => {
  const upstream = DIALECTS[format].upstream;
  const request = requestOf({ format, reasoning: { summary: 'auto' } });
  const context = replyTo(request);

  function showToAll(events: readonly Event[]): void {
    const result = new Fold().pushAll(events).result();
    for (const caller of FORMATS) {
      DIALECTS[caller].inbound.createEncoder(context).encode(events);
      DIALECTS[caller].inbound.encodeBody(result, context);
    }
  }

  /** One frame of the stream at a time is a mutant. */
  it.each([true, false])('may stream inherited names anywhere (relayed: %s)', (relay) => {
    const frames = STREAMS[format].map(({ event, data }) => ({ event, data: data as Json }));
    const written = (data: Json) => (typeof data === 'string' ? data : JSON.stringify(data));
    for (const [position, { event, data }] of frames.entries()) {
      const before = frames.slice(0, position);
      for (const mutant of isJsonObject(data) ? mutants(data) : []) {
        const decoder = upstream?.createDecoder({ request, relay });
        const events = [...before, { event: undefined, data: mutant }, { event, data: mutant }].flatMap(
          (frame) =>
            decoder?.decode({
              ...(frame.event !== undefined && { event: frame.event }),
              data: written(frame.data),
            }) ?? [],
        );
        showToAll([...events, ...(decoder?.end() ?? [])]);
      }
    }
  });

  it.each([true, false])('may hold inherited names anywhere (relayed: %s)', (relay) => {
    for (const mutant of mutants(WHOLE[format] as JsonObject)) {
      const events = upstream?.decodeBody(mutant as JsonObject, { request, relay }) ?? [];
      showToAll(events);
      upstream?.readError(mutant);
    }
  });
});

// --- The simulator
// -----------------------------------------------------------------------------------------------------------

describe('a schema given to the simulator', () => {
  const sample: JsonObject = {
    type: 'object',
    required: ['city'],
    $defs: { place: { type: 'string', format: 'date' } },
    properties: {
      city: { $ref: '#/$defs/place' },
      list: { type: 'array', items: { type: ['string', 'null'], pattern: '^a$' } },
      other: { anyOf: [{ type: 'number' }, { const: 'x' }] },
    },
  };

  /** Undefined for a schema that the simulator refuses. */
  const valueOrNone = (schema: JsonObject) => {
    try {
      return schemaValue(schema);
    } catch (error) {
      expect(error).toBeInstanceOf(UnmetSchema);
      return undefined;
    }
  };

  it('may hold inherited names anywhere', () => {
    const all = [...mutants(sample)].map((mutant) => valueOrNone(mutant as JsonObject));
    expect(all.filter((value) => value !== undefined).length).toBeGreaterThan(all.length / 2);
  });

  it.each(NAMES)('gives nothing for a type %s and plain text for such a format', (name) => {
    expect(valueOrNone({ type: name })).toBeUndefined();
    expect(schemaValue({ type: 'string', format: name })).toMatch(/^simulated/);
    expect(schemaValue({ $ref: `#/${name}` })).toMatch(/^simulated/);
  });
});

it.each(NAMES)('an item, a part and a file of type %s stay as they are', (name) => {
  const items: JsonObject[] = [
    { type: name },
    {
      role: 'user',
      content: [{ type: name }, { type: 'input_file', filename: `a.${name}`, file_data: 'QQ==' }],
    },
  ];
  const request = DIALECTS.responses.inbound.parseRequest({ model: 'a/b', input: items }, { vendor: 'acme' });
  expect(request.items).toEqual([
    { type: 'opaque', dialect: 'responses', value: { type: name } },
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'opaque', dialect: 'responses', value: { type: name } },
        {
          type: 'file',
          filename: `a.${name}`,
          source: { kind: 'base64', mediaType: 'application/octet-stream', data: 'QQ==' },
        },
      ],
    },
  ]);
});
