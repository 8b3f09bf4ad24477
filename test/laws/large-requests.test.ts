import { describe, expect, it } from 'vitest';
import type { UpstreamDialect } from '../../src/dialects/dialect.ts';
import { DIALECTS } from '../../src/dialects/dialects.ts';
import type { DialectName, Format } from '../../src/ir/items.ts';
import type { Json, JsonObject } from '../../src/kit/json/json.ts';

/**
 * What a request costs grows with its length and not faster. Three times as long must not take nine times as much: the
 * bound lies between the two, so that neither the machine nor garbage collection decides.
 */

const FORMATS: readonly Format[] = ['chat', 'messages', 'responses'];
/** Three times as many calls and results, each with its message, are about as many pieces as a request may have. */
const SMALL = 800;
const TIMES = 3;
const MAX_TIMES_AS_LONG = 6;
/** Below this, milliseconds of the processor say nothing. */
const NEGLIGIBLE_MS = 24;
/** How often both are measured until they agree with the law: garbage of other tests may be collected in either. */
const MAX_ROUNDS = 4;

function each<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

const wrap = (format: Format, list: Json[]): JsonObject => {
  if (format === 'responses') return { model: 'a/b', input: list };
  return { model: 'a/b', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }, ...list] };
};

const CALLS: Readonly<Record<Format, (index: number) => Json[]>> = {
  chat: (index) => [
    {
      role: 'assistant',
      tool_calls: [{ id: `c${index}`, type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: `c${index}`, content: 'done' },
  ],
  messages: (index) => [
    { role: 'assistant', content: [{ type: 'tool_use', id: `c${index}`, name: 'f', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: `c${index}`, content: 'done' }] },
  ],
  responses: (index) => [
    { type: 'function_call', call_id: `c${index}`, name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: `c${index}`, output: 'done' },
  ],
};

/** One call of a tool that was not answered yet: what the assistant says after it belongs to the same turn. */
const OPEN_CALL: Readonly<Record<Format, Json>> = {
  chat: (CALLS.chat(0) as Json[])[0] as Json,
  messages: (CALLS.messages(0) as Json[])[0] as Json,
  responses: (CALLS.responses(0) as Json[])[0] as Json,
};

const textPart = (format: Format): Json => ({
  type: format === 'responses' ? 'input_text' : 'text',
  text: 'x',
});

const PROMPTS: Readonly<Record<string, (format: Format, count: number) => JsonObject>> = {
  'messages by turns': (format, count) =>
    wrap(
      format,
      each(count, (index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content: 'x' })),
    ),
  'messages of one role': (format, count) =>
    wrap(
      format,
      each(count, () => ({ role: 'user', content: 'x' })),
    ),
  'calls and results': (format, count) => wrap(format, each(count, CALLS[format]).flat()),
  'words after a call': (format, count) =>
    wrap(format, [OPEN_CALL[format], ...each(count, () => ({ role: 'assistant', content: 'x' }))]),
  'parts of one message': (format, count) =>
    wrap(format, [{ role: 'user', content: each(count, () => textPart(format)) }]),
};

function upstreamOf(name: DialectName): UpstreamDialect {
  const dialect = DIALECTS[name].upstream;
  if (dialect === undefined) throw new Error(`no upstream dialect ${name}`);
  return dialect;
}

const ROUTES = FORMATS.flatMap((from) => FORMATS.map((to) => [from, to] as const));

describe.each(ROUTES)('a request in %s, sent as %s', (from, to) => {
  const target = { model: 'm', hashUser: (id: string) => id };
  const dialect = upstreamOf(to);

  function workOn(body: JsonObject): void {
    const request = DIALECTS[from].inbound.parseRequest(body, { vendor: 'acme' });
    if (from === to) dialect.renderRelay?.(request, target);
    dialect.renderRequest(request, target);
  }

  /** Milliseconds of the processor, the best of some: other work on the machine only ever adds. */
  function costOf(body: JsonObject): number {
    return Math.min(
      ...each(3, () => {
        const before = process.cpuUsage();
        workOn(body);
        return process.cpuUsage(before).user / 1000;
      }),
    );
  }

  it.each(Object.entries(PROMPTS))('costs as much as it is long: %s', (_, make) => {
    const bodies = [make(from, SMALL), make(from, SMALL * TIMES)] as const;
    let [small, large] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    const bound = () => Math.max(small, NEGLIGIBLE_MS / MAX_TIMES_AS_LONG) * MAX_TIMES_AS_LONG;
    for (let round = 0; round < MAX_ROUNDS && large >= bound(); round++) {
      small = Math.min(small, costOf(bodies[0]));
      large = Math.min(large, costOf(bodies[1]));
    }
    expect(large).toBeLessThan(bound());
  });
});
