import { describe, expect, it } from 'vitest';
import { requestOf } from '../../../../test/kit/builders/request.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { DIALECTS } from '../../dialects.ts';
import {
  dropped,
  droppedExcept,
  type FieldFates,
  is,
  isEmpty,
  isOnly,
  isTaken,
  rendered,
  renderedIfListed,
  reportDroppedFields,
} from './field-fates.ts';
import { REQUEST_FIELDS, Report } from './report.ts';

const RENDERED = Object.fromEntries(REQUEST_FIELDS.map((field) => [field, rendered()])) as FieldFates;

function lossesOf(fates: Partial<FieldFates>, request: Parameters<typeof requestOf>[0]): string[] {
  const given = requestOf(request);
  const report = new Report(given);
  reportDroppedFields(given, { ...RENDERED, ...fates }, report);
  return report.entries.map(({ field, detail }) => `${field}: ${detail}`);
}

describe('a dropped field', () => {
  it('is reported by its name in the caller’s format', () => {
    const stop = dropped('no field');
    expect(lossesOf({ stop }, { sampling: { stop: ['x'] } })).toEqual(['stop: no field']);
    expect(lossesOf({ stop }, { format: 'messages', sampling: { stop: ['x'] } })).toEqual([
      'stop_sequences: no field',
    ]);
  });

  it('is not reported if absent or harmless', () => {
    expect(lossesOf({ minP: dropped('no field', is(0, 1)) }, { sampling: {} })).toEqual([]);
    expect(lossesOf({ minP: dropped('no field', is(0, 1)) }, { sampling: { minP: 1 } })).toEqual([]);
    expect(lossesOf({ imageConfig: dropped('no field', isEmpty) }, { imageConfig: {} })).toEqual([]);
    const modalities = dropped('no field', isOnly('text'));
    expect(lossesOf({ modalities }, { modalities: ['text'] })).toEqual([]);
    expect(lossesOf({ modalities }, { modalities: ['text', 'image'] })).toEqual(['modalities: no field']);
  });

  it('is reported member by member if some are kept, and as a whole if the table asks for that', () => {
    const include = ['a', 'b', 'c'];
    expect(lossesOf({ include: droppedExcept(['b'], 'none') }, { include })).toEqual([
      'include[0]: none',
      'include[2]: none',
    ]);
    const asWhole = droppedExcept(['x'], 'none', { namesWholeList: true });
    expect(lossesOf({ include: asWhole }, { include })).toEqual(['include: none']);
    expect(lossesOf({ include: asWhole }, { include: ['a', 'x'] })).toEqual(['include[0]: none']);
  });
});

describe('an endpoint takes a rendered field', () => {
  it.each([
    ['without parameters', rendered(), [], true],
    ['if it lists none', rendered('a', 'b'), undefined, true],
    ['if it lists one of the parameters', rendered('a', 'b'), ['b'], true],
    ['not if it lists others', rendered('a', 'b'), ['c'], false],
    ['not without a list, if the field must be listed', renderedIfListed('a'), undefined, false],
    ['if it lists what must be listed', renderedIfListed('a'), ['a'], true],
  ])('%s', (_, fate, listed, expected) => {
    const supportedParameters = listed === undefined ? undefined : new Set(listed);
    expect(isTaken(fate, { supportedParameters })).toBe(expected);
  });
});

/** Callers see the order of entries. */
describe('the order of a report', () => {
  const chat: JsonObject = {
    novelty: 1,
    max_tool_calls: 2,
    prediction: { type: 'content', content: 'x' },
    metadata: { team: 'blue' },
    service_tier: 'odd',
    cache_control: { type: 'ephemeral' },
    prompt_cache_options: { mode: 'explicit' },
    prompt_cache_key: 'k',
    image_config: { strength: 1 },
    modalities: ['audio'],
    verbosity: 'low',
    top_logprobs: 1,
    logprobs: true,
    logit_bias: { 1: 1 },
    stop: ['x'],
    seed: 1,
    repetition_penalty: 2,
    presence_penalty: 1,
    frequency_penalty: 1,
    min_p: 0.5,
    top_a: 0.5,
  };
  const responses: JsonObject = {
    novelty: 1,
    max_tool_calls: 2,
    prompt_cache_retention: '24h',
    stream_options: { include_obfuscation: false },
    include: ['web_search_call.results', 'reasoning.encrypted_content', 'message.output_text.logprobs'],
    truncation: 'auto',
    modalities: ['image'],
    prompt_cache_key: 'k',
    text: { verbosity: 'low' },
    top_logprobs: 1,
    presence_penalty: 1,
  };
  const settings =
    'top_a min_p frequency_penalty presence_penalty repetition_penalty seed logit_bias logprobs top_logprobs';
  const ofClaude =
    'presence_penalty top_logprobs text.verbosity prompt_cache_key modalities truncation include[0] include[2] ' +
    'max_tool_calls stream_options.include_obfuscation prompt_cache_retention novelty';
  const rows: readonly (readonly [
    keyof typeof DIALECTS,
    model: string,
    ofChat: string,
    ofResponses: string,
  ])[] = [
    [
      'messages',
      'claude',
      `service_tier ${settings} verbosity image_config prompt_cache_key prompt_cache_options metadata modalities ` +
        'max_tool_calls prediction novelty',
      ofClaude,
    ],
    [
      'bedrock',
      'us.anthropic.claude-opus-4-5-20251101-v1:0',
      `service_tier ${settings} verbosity image_config prompt_cache_key prompt_cache_options modalities ` +
        'max_tool_calls prediction novelty',
      ofClaude,
    ],
    [
      'gemini',
      'gemini-2.5-flash',
      'modalities image_config.strength top_a min_p repetition_penalty logit_bias verbosity prompt_cache_key ' +
        'prompt_cache_options metadata cache_control max_tool_calls prediction novelty service_tier',
      'text.verbosity prompt_cache_key truncation include[0] max_tool_calls stream_options.include_obfuscation ' +
        'prompt_cache_retention novelty',
    ],
    [
      'chat',
      'm',
      'max_tool_calls cache_control prompt_cache_options service_tier metadata novelty',
      'truncation include[0] include[1] stream_options.include_obfuscation prompt_cache_retention ' +
        'max_tool_calls novelty',
    ],
    [
      'responses',
      'm',
      'top_a min_p repetition_penalty seed stop logit_bias cache_control novelty prediction modalities service_tier',
      'novelty',
    ],
  ];

  it.each(rows)('stays the same: %s', (name, model, ofChat, ofResponses) => {
    const fieldsOf = (format: 'chat' | 'responses', body: JsonObject) => {
      const own = format === 'chat' ? { messages: [{ role: 'user', content: 'Hi' }] } : { input: 'Hi' };
      const parsed = DIALECTS[format].inbound.parseRequest(
        { model: 'a/b', ...own, ...body },
        { vendor: 'acme' },
      );
      const { report } = DIALECTS[name].upstream.renderRequest(parsed, { model, hashUser: (user) => user });
      return report.map(({ field }) => field).join(' ');
    };
    expect(fieldsOf('chat', chat)).toBe(ofChat);
    expect(fieldsOf('responses', responses)).toBe(ofResponses);
  });
});
