import { describe, expect, it } from 'vitest';
import { DIALECTS } from '../../src/dialects/dialects.ts';
import { MAX_REQUEST_PIECES, refuseManyPieces } from '../../src/dialects/shared/requests/request-pieces.ts';
import { parseBody } from '../../src/gateway/request/parse-body.ts';
import type { DialectName, Format } from '../../src/ir/items.ts';
import type { GenerationRequest } from '../../src/ir/request.ts';
import type { Json, JsonObject } from '../../src/kit/json/json.ts';

/**
 * No request holds the process for long while it is parsed or rendered: it has a bounded number of pieces, and each of
 * them costs little, of any kind.
 */

const NAMES_OF_DIALECTS: readonly DialectName[] = ['messages', 'chat', 'responses', 'gemini', 'bedrock'];

/** As many as there may be beside the first message. */
const MOST = MAX_REQUEST_PIECES - 1;

/**
 * A step of as many pieces whose cost is known to be fair: the texts of that many messages written and read. The limit
 * of a step is a number of these, so that a slow or busy machine lengthens both.
 */
const YARDSTICK = JSON.stringify(
  Array.from({ length: MOST }, (_, index) => ({
    role: 'user',
    content: [{ type: 'text', text: `${index}` }],
  })),
);
const MAX_YARDSTICKS = 25;
const TRIES = 5;

const each = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const user: Json = { role: 'user', content: 'x' };
const call = (id: number | string, input = '{}'): Json => ({
  type: 'function_call',
  call_id: `c${id}`,
  name: 'f',
  arguments: input,
});
const result = (id: number | string): Json => ({
  type: 'function_call_output',
  call_id: `c${id}`,
  output: 'r',
});
const input = (...items: Json[]): JsonObject => ({ model: 'a/b', input: [user, ...items] });

const BODIES = {
  'calls without results': (count) => input(...each(count, (index) => call(index))),
  'results before their calls': (count) =>
    input(...each(count, result), ...each(count, (index) => call(index))),
  'pairs with one id': (count) => input(...each(count, () => [call(0), result(0)]).flat()),
  'calls with one id, then their results': (count) =>
    input(...each(count, () => call(0)), ...each(count, () => result(0))),
  'input that is no JSON': (count) =>
    input(...each(count, (index) => [call(index, 'x {'), result(index)]).flat()),
  'system prompts between turns': (count) => input(...each(count, () => ({ role: 'system', content: 'x' }))),
  'messages by turns': (count) =>
    input(...each(count, (index) => ({ role: index % 2 === 0 ? 'assistant' : 'user', content: 'x' }))),
} as const satisfies Readonly<Record<string, (count: number) => JsonObject>>;

const NAMES: Readonly<Record<string, (index: number) => string>> = {
  'of other letters': (index) => `tööl ${index}`,
  'that end alike': (index) => `${index}${'a'.repeat(80)}`,
  'that begin alike': (index) =>
    `${'a'.repeat(60)}${String(index % 2000).padStart(4, '0')}${'.'.repeat(index / 2000)}`,
  'that begin with a digit': (index) => `1${'a'.repeat(59)}${String(index).padStart(4, '0')}`,
};

const toolsOf = (nameOf: (index: number) => string): JsonObject => {
  const tools = each(4000, (index) => ({ type: 'function', name: nameOf(index), parameters: {} }));
  const allowed = tools.map(({ type, name }) => ({ type, name })).reverse();
  const tool_choice = { type: 'allowed_tools', mode: 'auto', tools: allowed };
  return { model: 'a/b', input: 'x', tools, tool_choice };
};

const MODELS: Readonly<Partial<Record<DialectName, string>>> = { bedrock: 'anthropic.claude-x' };

function parsed(format: Format, body: JsonObject): GenerationRequest {
  return parseBody(body, DIALECTS[format].inbound, { vendor: 'acme' });
}

const requests = new Map<string, GenerationRequest>();

/** A request by the name of its body, parsed for all dialects at once. */
function requestOf(name: string, bodyOf: () => JsonObject): GenerationRequest {
  const request = requests.get(name) ?? parsed('responses', bodyOf());
  requests.set(name, request);
  return request;
}

/** Milliseconds of the processor. */
function costOf(step: () => unknown): number {
  const before = process.cpuUsage();
  step();
  return process.cpuUsage(before).user / 1000;
}

/** How many yardsticks a step takes; of some tries the best, as garbage of other tests may be collected in any. */
function yardsticksOf(step: () => unknown): number {
  let [cost, yardstick] = [Number.POSITIVE_INFINITY, 0];
  for (let tries = 0; tries < TRIES && cost >= MAX_YARDSTICKS * yardstick; tries++) {
    yardstick = Math.max(
      yardstick,
      costOf(() => JSON.stringify(JSON.parse(YARDSTICK))),
    );
    cost = Math.min(cost, costOf(step));
  }
  return cost / yardstick;
}

const largest = new Map<(count: number) => JsonObject, JsonObject>();

/** The body that holds as many pieces as a request may. */
function largestOf(make: (count: number) => JsonObject): JsonObject {
  const known = largest.get(make);
  if (known !== undefined) return known;
  let [fits, fails] = [1, MAX_REQUEST_PIECES];
  while (fails - fits > 1) {
    const middle = Math.floor((fits + fails) / 2);
    if (isWithinBound(make(middle))) fits = middle;
    else fails = middle;
  }
  const body = make(fits);
  largest.set(make, body);
  return body;
}

function isWithinBound(body: JsonObject): boolean {
  try {
    refuseManyPieces(body, ['input', 'messages', 'system', 'tools']);
    return true;
  } catch {
    return false;
  }
}

const targetOf = (name: DialectName) => ({ model: MODELS[name] ?? 'm', hashUser: (id: string) => id });

describe.each(NAMES_OF_DIALECTS)('rendering for %s', (name) => {
  const render = (request: GenerationRequest) =>
    DIALECTS[name].upstream.renderRequest(request, targetOf(name));

  it.each(Object.entries(BODIES))('the most that a request may hold is no long step: %s', (body, make) => {
    const request = requestOf(body, () => largestOf(make));
    expect(yardsticksOf(() => render(request))).toBeLessThan(MAX_YARDSTICKS);
  });

  it.each(Object.entries(NAMES))('is no long step: tools with names %s', (names, nameOf) => {
    const request = requestOf(names, () => toolsOf(nameOf));
    expect(yardsticksOf(() => render(request))).toBeLessThan(MAX_YARDSTICKS);
  });
});

describe('passing on the caller’s own body', () => {
  const own = (list: Json[]): JsonObject => ({ model: 'a/b', max_tokens: 9, messages: [user, ...list] });

  const OWN: Readonly<Record<Format, Readonly<Record<string, (count: number) => JsonObject>>>> = {
    responses: BODIES,
    messages: {
      'system prompts between turns': (count) =>
        own(each(count, (index) => ({ role: index % 2 === 0 ? 'user' : 'system', content: 'x' }))),
      'results before their calls': (count) => {
        const results = each(count, (id) => ({ type: 'tool_result', tool_use_id: `c${id}`, content: 'r' }));
        const calls = each(count, (id) => ({ type: 'tool_use', id: `c${id}`, name: 'f', input: {} }));
        return own([
          { role: 'user', content: results },
          { role: 'assistant', content: calls },
        ]);
      },
    },
    chat: {
      'results before their calls': (count) => {
        const results = each(count, (id) => ({ role: 'tool', tool_call_id: `c${id}`, content: 'r' }));
        const body = { name: 'f', arguments: '{}' };
        const calls = each(count, (id) => ({
          role: 'assistant',
          tool_calls: [{ id: `c${id}`, type: 'function', function: body }],
        }));
        return own([...results, ...calls]);
      },
    },
  };

  const CASES = (Object.keys(OWN) as Format[]).flatMap((format) =>
    Object.entries(OWN[format]).map(([name, make]) => [format, name, make] as const),
  );

  const relay = (format: Format, request: GenerationRequest) =>
    DIALECTS[format].upstream.renderRelay(request, targetOf(format));

  it.each(CASES)('in %s is no long step: %s', (format, _, make) => {
    const body = largestOf(make);
    const request = parsed(format, body);
    expect(yardsticksOf(() => parsed(format, body))).toBeLessThan(MAX_YARDSTICKS);
    expect(yardsticksOf(() => relay(format, request))).toBeLessThan(MAX_YARDSTICKS);
  });

  it.each(CASES)('in %s is refused beyond the bound: %s', (format, _, make) => {
    const list = format === 'responses' ? 'input' : 'messages';
    expect(() => parsed(format, make(MAX_REQUEST_PIECES))).toThrow(
      `${list}: must hold at most ${MAX_REQUEST_PIECES} messages, parts, calls and tools in all`,
    );
  });
});

describe('the pieces of a request', () => {
  const text = (format: Format): Json => ({
    type: format === 'responses' ? 'input_text' : 'text',
    text: 'x',
  });
  const PARTS: Readonly<Record<Format, (count: number) => JsonObject>> = {
    responses: (count) => ({
      model: 'a/b',
      input: [{ role: 'user', content: each(count, () => text('responses')) }],
    }),
    messages: (count) => ({
      model: 'a/b',
      max_tokens: 9,
      messages: [{ role: 'user', content: each(count, () => text('messages')) }],
    }),
    chat: (count) => ({
      model: 'a/b',
      messages: [{ role: 'user', content: each(count, () => text('chat')) }],
    }),
  };

  it.each(Object.entries(PARTS))('are also the parts of one message of %s', (format, make) => {
    expect(parsed(format as Format, make(MOST)).items).toHaveLength(1);
    expect(() => parsed(format as Format, make(MOST + 1))).toThrow('must hold at most');
  });

  it('are bounded as the caller wrote them, not as an upstream gets them', () => {
    const request = parsed('responses', largestOf(BODIES['calls without results']));
    const { body } = DIALECTS.chat.upstream.renderRequest(request, targetOf('chat'));
    expect(() => parsed('chat', body)).toThrow('must hold at most');
    expect(DIALECTS.chat.inbound.parseRequest(body, { vendor: 'acme' }).items.length).toBeGreaterThan(
      request.items.length,
    );
  });

  it('are also the tools', () => {
    const tools = each(4000, (index) => ({ type: 'function', name: `f${index}`, parameters: {} }));
    const body = (count: number) => ({
      model: 'a/b',
      input: each(count, () => ({ role: 'user', content: 'x' })),
      tools,
    });
    expect(parsed('responses', body(MAX_REQUEST_PIECES - tools.length)).tools).toHaveLength(tools.length);
    expect(() => parsed('responses', body(MAX_REQUEST_PIECES - tools.length + 1))).toThrow(
      'input: must hold at most',
    );
  });
});
