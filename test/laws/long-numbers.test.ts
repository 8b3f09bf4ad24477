import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DIALECTS } from '../../src/dialects/dialects.ts';
import { fold } from '../../src/ir/folding/fold.ts';
import type { DialectName, Format } from '../../src/ir/items.ts';
import type { GenerationRequest } from '../../src/ir/request.ts';
import { ExactNumbers, stringifyExactly } from '../../src/kit/json/exact-numbers.ts';
import { isJsonObject, type JsonObject, readJson } from '../../src/kit/json/json.ts';
import { replyTo, settledWith } from '../kit/fixtures/chat/chat-fixture.ts';

/**
 * The digits of numbers in the input of a call survive every translation, though some formats have the input as text
 * and others as an object.
 */

const FORMATS: readonly Format[] = ['chat', 'messages', 'responses'];
const UPSTREAMS: readonly DialectName[] = ['chat', 'messages', 'responses', 'gemini', 'bedrock'];
const PAIRS = FORMATS.flatMap((format) => UPSTREAMS.map((upstream) => ({ format, upstream })));

const RUNS = { numRuns: 25 };

/** Beyond 2^53, many of them close to each other. */
const longNumber = fc.oneof(
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 53n + 8n }).map(String),
  fc.bigInt({ min: -(10n ** 30n), max: -(10n ** 16n) }).map(String),
  fc.bigInt({ min: 10n ** 16n, max: 10n ** 30n }).map(String),
  fc.constantFrom('1e400', '-1e400', '12345678901234567890.5', '1.5e300'),
);
const inputText = fc
  .tuple(longNumber, fc.array(longNumber, { maxLength: 5 }))
  .map(([id, list]) => `{"id":${id},"list":[${list.join()}],"text":"${id}"}`);

/** The body of a request in which a call was made, by its format. */
const REQUESTS: Readonly<Record<Format, (input: string) => string>> = {
  chat: (input) =>
    `{"model":"m","messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"c1",` +
    `"type":"function","function":{"name":"f","arguments":${JSON.stringify(input)}}}]},` +
    `{"role":"tool","tool_call_id":"c1","content":"r"}]}`,
  messages: (input) =>
    `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":` +
    `[{"type":"tool_use","id":"c1","name":"f","input":${input}}]},{"role":"user","content":` +
    `[{"type":"tool_result","tool_use_id":"c1","content":"r"}]}]}`,
  responses: (input) =>
    `{"model":"m","input":[{"role":"user","content":"x"},{"type":"function_call","call_id":"c1","name":"f",` +
    `"arguments":${JSON.stringify(input)}},{"type":"function_call_output","call_id":"c1","output":"r"}]}`,
};

/** The body of an answer that makes a call, by its dialect. */
const ANSWERS: Readonly<Record<(typeof UPSTREAMS)[number], (input: string) => string>> = {
  chat: (input) =>
    `{"id":"a","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,` +
    `"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":${JSON.stringify(input)}}}]}}]}`,
  messages: (input) =>
    `{"id":"a","type":"message","role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f",` +
    `"input":${input}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`,
  responses: (input) =>
    `{"id":"a","status":"completed","output":[{"type":"function_call","id":"i1","call_id":"c1","name":"f",` +
    `"arguments":${JSON.stringify(input)},"status":"completed"}]}`,
  gemini: (input) =>
    `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":${input}}}]},` +
    `"finishReason":"STOP"}]}`,
  bedrock: (input) =>
    `{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"c1","name":"f",` +
    `"input":${input}}}]}},"stopReason":"tool_use","usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2}}`,
};

function bodyOf(text: string, numbers: ExactNumbers): JsonObject {
  numbers.look(Buffer.from(text));
  const reading = readJson(text, undefined, numbers);
  if (!reading.ok || !isJsonObject(reading.value)) throw new Error(`not a body: ${text}`);
  return reading.value;
}

function requestOf(format: Format, input: string): GenerationRequest & { exactNumbers: ExactNumbers } {
  const exactNumbers = new ExactNumbers();
  const body = bodyOf(REQUESTS[format](input), exactNumbers);
  return { ...DIALECTS[format].inbound.parseRequest(body, { vendor: 'acme', exactNumbers }), exactNumbers };
}

/** Expects JSON to have an input, as an object or as text. */
function expectInput(json: string, input: string): void {
  const isThere = json.includes(input) || json.includes(JSON.stringify(input).slice(1, -1));
  expect(isThere ? input : json).toBe(input);
}

describe.each(PAIRS)('from a caller of $format to an upstream of $upstream', ({ format, upstream }) => {
  it('the input of calls in a request keeps its digits', () => {
    const target = { model: upstream === 'bedrock' ? 'anthropic.claude-x' : 'm', hashUser: String };
    fc.assert(
      fc.property(inputText, (input) => {
        const request = requestOf(format, input);
        const { body } = DIALECTS[upstream].upstream.renderRequest(request, target);
        expectInput(stringifyExactly(body, request.exactNumbers), input);
      }),
      RUNS,
    );
  });

  it('the input of calls in a whole answer keeps its digits, beside those of the request', () => {
    fc.assert(
      fc.property(inputText, inputText, (asked, input) => {
        const request = requestOf(format, asked);
        const answer = bodyOf(ANSWERS[upstream](input), request.exactNumbers);
        const result = fold(DIALECTS[upstream].upstream.decodeBody(answer, { request, relay: false }));
        const settled = { ...result, settled: settledWith(result) };
        const reply = DIALECTS[format].inbound.encodeBody(settled, replyTo(request));
        expectInput(stringifyExactly(reply, request.exactNumbers), input);
      }),
      RUNS,
    );
  });
});

it('the input of calls in a stream of whole calls keeps its digits', () => {
  fc.assert(
    fc.property(inputText, inputText, (asked, input) => {
      const request = requestOf('messages', asked);
      const decoder = DIALECTS.gemini.upstream.createDecoder({ request, relay: false });
      const events = [...decoder.decode({ data: ANSWERS.gemini(input) }), ...decoder.end()];
      expect(events).toContainEqual(expect.objectContaining({ type: 'tool-input-delta', text: input }));
    }),
    RUNS,
  );
});
