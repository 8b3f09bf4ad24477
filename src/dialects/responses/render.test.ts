import { describe, expect, it } from 'vitest';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { objectsOf } from '../../kit/json/members.ts';
import { facts as chatFacts } from '../chat/facts.ts';
import type { RenderTarget } from '../dialect.ts';
import { facts as messagesFacts } from '../messages/facts.ts';
import { fillPromptTemplate } from '../shared/presets/prompt-template.ts';
import { wrapSeal } from '../shared/reasoning/custody.ts';
import { parseRequest } from './parse.ts';
import { renderRelay } from './relay.ts';
import { renderRequest } from './render.ts';

const parse = (body: JsonObject) => parseRequest({ model: 'm', input: 'hi', ...body }, { vendor: 'acme' });
const target: RenderTarget = { model: 'up', hashUser: (id) => `#${id}` };
const foreign = (over: Partial<GenerationRequest>): GenerationRequest => ({
  ...parse({}),
  body: {},
  format: 'messages',
  formatFacts: messagesFacts.request,
  ...over,
});
const fields = (rendered: { report: readonly { field: string }[] }) =>
  rendered.report.map((entry) => entry.field);

const ANTHROPIC = { signature: 'SIG', format: 'anthropic-claude-v1' };
const foreignReasoning = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [],
  content: [{ type: 'reasoning_text', text: 'hm' }],
  encrypted_content: wrapSeal(ANTHROPIC),
  ...ANTHROPIC,
};

describe('renderRequest', () => {
  it('sends end-user ids only hashed, never stores, and names the upstream’s model', () => {
    const { body } = renderRequest(parse({ user: 'ann', safety_identifier: 'ann@x' }), target);
    expect(body).toMatchObject({ model: 'up', store: false, user: '#ann', safety_identifier: '#ann@x' });
  });

  it('reports what the dialect has no word for', () => {
    const rendered = renderRequest(
      foreign({
        format: 'chat',
        formatFacts: chatFacts.request,
        sampling: { seed: 1, stop: ['x'], topK: 3, temperature: 1 },
        cache: {},
        unknownFields: ['odd'],
        ext: { chat: { prediction: {} } },
      }),
      target,
    );
    expect(fields(rendered)).toEqual(['seed', 'stop', 'cache_control', 'odd', 'prediction', 'top_k']);
    expect(rendered.body).toMatchObject({ temperature: 1 });
    expect(rendered.body.top_k).toBeUndefined();
  });

  it('asks for seals and visible thoughts on behalf of formats that cannot', () => {
    const { body } = renderRequest(foreign({ reasoning: { enabled: true, effort: 'high' } }), target);
    expect(body).toMatchObject({
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'high', summary: 'auto' },
    });
    expect(renderRequest(foreign({ reasoning: { effort: 'none' } }), target).body.include).toBeUndefined();
  });

  it('asks for seals on behalf of callers that may name the items later', () => {
    const seals = ['reasoning.encrypted_content'];
    for (const render of [renderRequest, renderRelay]) {
      const asked = (body: JsonObject, facts: Partial<RenderTarget> = {}) =>
        render(parse(body), { ...target, ...facts }).body.include;
      expect(asked({ reasoning: { effort: 'high' } })).toEqual(seals);
      expect(asked({ reasoning: { effort: 'none' } }, { alwaysThinks: false })).toBeUndefined();
      expect(asked({ reasoning: { effort: 'high' }, store: false })).toBeUndefined();
      expect(asked({ include: ['file_search_call.results'] }, { alwaysThinks: true })).toEqual([
        'file_search_call.results',
        ...seals,
      ]);
      expect(asked({ include: seals }, { alwaysThinks: true })).toEqual(seals);
      expect(asked({}, { alwaysThinks: false })).toEqual(seals);
      expect(asked({}, { supportedEfforts: ['low'] })).toEqual(seals);
      expect(asked({}, { supportedParameters: new Set(['reasoning']) })).toEqual(seals);
      expect(asked({}, { supportedParameters: new Set(['tools']) })).toBeUndefined();
      expect(asked({})).toBeUndefined();
    }
  });

  it('turns a budget into the nearest effort and says so', () => {
    const rendered = renderRequest(
      parse({ reasoning: { max_tokens: 4000 }, max_output_tokens: 8000 }),
      target,
    );
    expect(rendered.body.reasoning).toEqual({ effort: 'medium' });
    expect(rendered.report).toMatchObject([{ field: 'reasoning.max_tokens', action: 'coerced' }]);
  });

  it('sends foreign reasoning as text, without seal and id, with an entry', () => {
    const rendered = renderRequest(
      parse({ input: [foreignReasoning, { role: 'user', content: 'x' }] }),
      target,
    );
    expect((rendered.body.input as JsonObject[])[0]).toEqual({
      type: 'reasoning',
      summary: [],
      content: [{ type: 'reasoning_text', text: 'hm' }],
    });
    expect(fields(rendered)).toEqual(['input[0].signature']);
  });

  it('drops foreign reasoning that has no text at all', () => {
    const items = [
      { type: 'reasoning', text: [], summary: [], encrypted: 'E', format: 'anthropic-claude-v1' },
    ] as const;
    const rendered = renderRequest(foreign({ items: [...items, ...parse({}).items] }), target);
    expect(rendered.body.input).toHaveLength(1);
    expect(rendered.report).toMatchObject([{ field: 'messages', action: 'dropped' }]);
  });

  it('counts input places without the instructions', () => {
    const rendered = renderRequest(parse({ instructions: 'Be brief.', input: [foreignReasoning] }), target);
    expect(rendered.body.instructions).toBe('Be brief.');
    expect(fields(rendered)).toEqual(['input[0].signature']);
  });

  it('removes what the endpoint does not take, but never the output limit', () => {
    const supportedParameters = new Set(['temperature']);
    const body = {
      temperature: 1,
      top_p: 0.5,
      max_output_tokens: 5,
      tools: [{ type: 'function', name: 'f' }],
    };
    for (const render of [renderRequest, renderRelay]) {
      const rendered = render(parse(body), { ...target, supportedParameters });
      expect(rendered.body).toMatchObject({ temperature: 1, max_output_tokens: 5 });
      expect(fields(rendered)).toEqual(['top_p', 'tools']);
    }
  });

  it('groups the tools of a namespace again', () => {
    const tools = [
      {
        type: 'namespace',
        name: 'git',
        description: 'd',
        tools: [{ type: 'function', name: 'log', parameters: {} }],
      },
      { type: 'function', name: 'f', parameters: {} },
    ];
    expect(renderRequest(parse({ tools }), target).body.tools).toEqual(tools);
  });

  it('sends additional_tools items as they are, not twice', () => {
    const item = { type: 'additional_tools', role: 'developer', tools: [{ type: 'function', name: 'late' }] };
    const { body } = renderRequest(parse({ input: [item] }), target);
    expect(body.input).toEqual([item]);
    expect(body.tools).toBeUndefined();
  });

  it('makes text of foreign parts that have some, and drops the rest', () => {
    const value = {
      type: 'search_result',
      source: 'https://s',
      title: 't',
      content: [{ type: 'text', text: 'found' }],
    };
    const content = [
      { type: 'opaque', dialect: 'messages', value },
      { type: 'opaque', dialect: 'messages', value: { type: 'container_upload' } },
    ] as const;
    const rendered = renderRequest(foreign({ items: [{ type: 'message', role: 'user', content }] }), target);
    expect((rendered.body.input as JsonObject[])[0]?.content).toEqual([
      { type: 'input_text', text: 't\nhttps://s\nfound' },
    ]);
    expect(rendered.report.map((entry) => entry.action)).toEqual(['coerced', 'dropped']);
  });

  it('writes what a browser shows, and the heading of a document, as text', () => {
    const tabs = [{ tab_id: 't', title: 'Page', url: 'http://x', active: true }];
    const source = { type: 'content', content: [{ type: 'text', text: 'said' }, { type: 'image' }] };
    const values = [
      { type: 'browser_state', tabs, cache_control: { type: 'ephemeral' } },
      { type: 'document', title: 't', context: 'c', source },
    ];
    const content = values.map((value) => ({ type: 'opaque', dialect: 'messages', value }) as const);
    const call = { type: 'tool-call', kind: 'function', callId: 'c', name: 'b', input: '{}' } as const;
    const result = { type: 'tool-result', kind: 'function', callId: 'c', content } as const;
    const { body, report } = renderRequest(foreign({ items: [call, result] }), target);
    expect((body.input as JsonObject[])[1]?.output).toEqual([
      { type: 'input_text', text: JSON.stringify({ tabs }) },
      { type: 'input_text', text: 't\nc\nsaid' },
    ]);
    expect(report.map((entry) => `${entry.action} ${entry.detail}`)).toEqual([
      'coerced browser_state sent as plain text',
      'dropped the upstream caches on its own and takes no marks',
      'coerced document sent as plain text',
      'dropped image inside document cannot be sent',
    ]);
  });
});

describe('renderRelay', () => {
  it('keeps unknown fields and items, and removes what speaks to the gateway', () => {
    const body = {
      client_metadata: { a: 1 },
      provider: { zdr: true },
      plugins: [],
      session_id: 's',
      prompt: { id: 'p' },
      background: false,
      metadata: null,
      input: [{ type: 'brand_new_item', x: 1 }],
    };
    expect(renderRelay(parse(body), target).body).toEqual({
      model: 'up',
      store: false,
      client_metadata: { a: 1 },
      input: [{ type: 'brand_new_item', x: 1 }],
    });
  });

  it('takes the gateway’s own items, marks and members out, with an entry each', () => {
    const rendered = renderRelay(
      parse({
        input: [
          {
            role: 'user',
            content: [{ type: 'input_text', text: 'x', cache_control: { type: 'ephemeral' } }],
          },
          { type: 'acme:web_search', status: 'completed' },
          foreignReasoning,
        ],
        tools: [{ type: 'web_search', engine: 'exa', search_context_size: 'low' }],
        cache_control: { type: 'ephemeral' },
        reasoning: { effort: 'low', exclude: true },
        service_tier: 'fast',
      }),
      target,
    );
    expect(rendered.body).toMatchObject({
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'x' }] },
        { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] },
      ],
      tools: [{ type: 'web_search', search_context_size: 'low' }],
      reasoning: { effort: 'low' },
      service_tier: 'priority',
    });
    expect(rendered.body.cache_control).toBeUndefined();
    expect(fields(rendered)).toEqual([
      'cache_control',
      'input[0].content[0].cache_control',
      'input[1]',
      'input[2].signature',
      'tools[0].engine',
    ]);
  });

  it('takes marks out of tools wherever they are declared, and keeps unknown settings', () => {
    const marked = { type: 'function', name: 'f', cache_control: { type: 'ephemeral' } };
    const rendered = renderRelay(
      parse({
        input: [
          { type: 'additional_tools', role: 'developer', tools: [marked] },
          { type: 'custom_tool_call', call_id: 'c', name: 'x', input: '', signature: 'S' },
          { type: 'custom_tool_call_output', call_id: 'c', output: '' },
        ],
        tools: [{ type: 'namespace', name: 'n', description: 'd', tools: [marked] }],
        reasoning: { max_tokens: 100, effort: 'low', generate_summary: 'auto' },
      }),
      target,
    );
    expect(JSON.stringify(rendered.body)).not.toMatch(/cache_control|signature/);
    expect(rendered.body.reasoning).toEqual({ effort: 'low', generate_summary: 'auto' });
    expect(fields(rendered)).toEqual([
      'input[0].tools[0].cache_control',
      'input[1].signature',
      'tools[0].tools[0].cache_control',
      'reasoning.max_tokens',
      'reasoning.generate_summary',
    ]);
  });

  it('changes words that no upstream knows to the nearest', () => {
    const format = { type: 'text' };
    const reasoning = { effort: 'max', summary: 'auto' };
    for (const render of [renderRequest, renderRelay]) {
      const rendered = render(
        parse({ input: 'Hi', text: { format, verbosity: 'xhigh' }, reasoning }),
        target,
      );
      expect(rendered.body).toMatchObject({
        text: { format, verbosity: 'high' },
        reasoning: { effort: 'xhigh', summary: 'auto' },
      });
      expect(fields(rendered).sort()).toEqual(['reasoning.effort', 'text.verbosity']);
    }
  });

  it('counts places as the caller does when a template put something before them', () => {
    const filled = fillPromptTemplate(
      { model: 'm', prompt: { id: 'p' }, input: [{ type: 'acme:x' }] },
      { p: { input: 'Go.' } },
    );
    for (const render of [renderRequest, renderRelay]) {
      expect(fields(render(parse(filled), target))).toEqual(['input[0]']);
    }
  });

  it('never changes the caller’s body', () => {
    const request = parse({ input: [foreignReasoning], user: 'ann' });
    const before = structuredClone(request.body);
    renderRelay(request, target);
    expect(request.body).toEqual(before);
  });
});

describe('quirks of providers', () => {
  const chat = { format: 'chat', formatFacts: chatFacts.request } as const;
  const sampling = { seed: 1, minP: 0.1, topK: 3 };
  const furtherFields = ['seed', 'top_k', 'min_p'] as const;

  it('sends the further fields that a provider takes, and reports the others', () => {
    const all = renderRequest(foreign({ ...chat, sampling }), { ...target, quirks: { furtherFields } });
    expect(all.body).toMatchObject({ seed: 1, top_k: 3, min_p: 0.1 });
    expect(all.report).toEqual([]);
    const one = { ...target, quirks: { furtherFields: ['seed'] } as const };
    const some = renderRequest(foreign({ ...chat, sampling }), one);
    expect(some.body).toMatchObject({ seed: 1 });
    expect(some.body.min_p).toBeUndefined();
    expect(fields(some)).toEqual(['min_p', 'top_k']);
  });

  it('sends no further field that the endpoint does not list', () => {
    const listed = { ...target, quirks: { furtherFields }, supportedParameters: new Set(['seed']) };
    const { body, report } = renderRequest(foreign({ ...chat, sampling }), listed);
    expect(body).toMatchObject({ seed: 1 });
    expect([body.top_k, body.min_p]).toEqual([undefined, undefined]);
    expect(report.map(({ field }) => field).sort()).toEqual(['min_p', 'top_k']);
  });

  it('requests log probabilities in the field that the provider has for them', () => {
    const own = { ...target, quirks: { takesLogprobsField: true } };
    const asked = { sampling: { logprobs: true, topLogprobs: 2 } };
    const { body } = renderRequest(foreign({ ...chat, ...asked }), own);
    expect(body).toMatchObject({ logprobs: true, top_logprobs: 2 });
    expect(body.include).toBeUndefined();
    const seals = 'reasoning.encrypted_content';
    const given = parse({ store: false, include: ['message.output_text.logprobs', seals], top_logprobs: 2 });
    for (const render of [renderRequest, renderRelay]) {
      expect(render(given, own).body).toMatchObject({ logprobs: true, top_logprobs: 2, include: [seals] });
      expect(render(given, target).body.include).toEqual(['message.output_text.logprobs', seals]);
    }
  });

  it('sends developer messages as system messages where the role is refused', () => {
    const given = parse({ input: ['hi', 'so?'].map((content) => ({ role: 'developer', content })) });
    const roles = ({ body }: { readonly body: JsonObject }) => objectsOf(body.input).map(({ role }) => role);
    for (const render of [renderRequest, renderRelay]) {
      const quirks = { refusesDeveloperRole: true };
      expect(roles(render(given, { ...target, quirks }))).toEqual(['system', 'system']);
      expect(roles(render(given, target))).toEqual(['developer', 'developer']);
    }
  });
});
