import { describe, expect, it } from 'vitest';
import type { UpstreamDialect } from '../../src/dialects/dialect.ts';
import { DIALECTS } from '../../src/dialects/dialects.ts';
import type { DialectName, Format } from '../../src/ir/items.ts';
import type { GenerationRequest } from '../../src/ir/request.ts';
import type { Json, JsonObject } from '../../src/kit/json/json.ts';
import type { Sliced } from '../../src/kit/loop/turns.ts';

/**
 * No request holds the process while it is rendered: however many small things it is made of, they are rendered in slices,
 * a few hundred in each, and no slice is long.
 */

const NAMES_OF_DIALECTS: readonly DialectName[] = ['messages', 'chat', 'responses', 'gemini', 'bedrock'];
const COUNT = 3000;
const MOST_IN_SLICE = 256;
/** Where the time of slices is measured: what looks back at every item takes several times the limit. */
const LARGE_COUNT = 20_000;
const LIMIT_MS = 100;
const TRIES = 3;

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

function upstreamOf(name: DialectName): UpstreamDialect {
  const dialect = DIALECTS[name].upstream;
  if (dialect === undefined) throw new Error(`no upstream dialect ${name}`);
  return dialect;
}

function parsed(format: Format, body: JsonObject): GenerationRequest {
  return DIALECTS[format].inbound.parseRequest(body, { vendor: 'acme' });
}

/** The longest slice in milliseconds of the processor; of some tries the best: other work only ever adds. */
function longestSlice(start: () => Sliced<unknown>): number {
  let best = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES && best >= LIMIT_MS; tries++) {
    best = Math.min(best, longestOf(start()));
  }
  return best;
}

function longestOf(work: Sliced<unknown>): number {
  let longest = 0;
  for (;;) {
    const before = process.cpuUsage();
    const { done } = work.next();
    longest = Math.max(longest, process.cpuUsage(before).user / 1000);
    if (done === true) return longest;
  }
}

function slicesOf(work: Sliced<unknown>): number {
  let count = 1;
  while (work.next().done !== true) count++;
  return count;
}

const targetOf = (name: DialectName) => ({ model: MODELS[name] ?? 'm', hashUser: (id: string) => id });

describe.each(NAMES_OF_DIALECTS)('rendering for %s', (name) => {
  const render = (body: JsonObject) =>
    upstreamOf(name).renderRequest(parsed('responses', body), targetOf(name));

  it.each(Object.entries(BODIES))('is done in slices: %s', (_, make) => {
    expect(slicesOf(render(make(COUNT)))).toBeGreaterThan(COUNT / MOST_IN_SLICE);
  });

  it.each(['results before their calls', 'pairs with one id'] as const)('has no long slice: %s', (kind) => {
    const body = BODIES[kind](LARGE_COUNT);
    expect(longestSlice(() => render(body))).toBeLessThan(LIMIT_MS);
  });

  it.each(Object.entries(NAMES))('has no long slice: tools with names %s', (_, nameOf) => {
    const body = toolsOf(nameOf);
    expect(longestSlice(() => render(body))).toBeLessThan(LIMIT_MS);
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

  const relay = (format: Format, body: JsonObject) =>
    upstreamOf(format).renderRelay(parsed(format, body), targetOf(format));

  it.each(CASES)('in %s is done in slices: %s', (format, _, make) => {
    expect(slicesOf(relay(format, make(COUNT)))).toBeGreaterThan(COUNT / MOST_IN_SLICE);
  });

  it('has no long slice: system prompts between turns', () => {
    const body = OWN.messages['system prompts between turns']?.(2 * LARGE_COUNT) ?? {};
    expect(longestSlice(() => relay('messages', body))).toBeLessThan(LIMIT_MS);
  });
});
