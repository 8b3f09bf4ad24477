import { describe, expect, it } from 'vitest';
import { requestOf } from '../../../test/kit/builders/request.ts';
import type { Item, Part, ToolCallItem, ToolResultItem } from '../../ir/items.ts';
import type { GenerationRequest, Tool } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { RenderTarget } from '../dialect.ts';
import { bedrock } from './index.ts';
import { renderRequest } from './render.ts';

const TARGET: RenderTarget = { model: 'anthropic.claude-v1:0', hashUser: (id) => `hash(${id})` };

function render(changes: Partial<GenerationRequest>, target: Partial<RenderTarget> = {}) {
  return renderRequest(requestOf(changes), { ...TARGET, ...target });
}

/** The turns of a rendered conversation. */
function turnsOf(items: readonly Item[], changes: Partial<GenerationRequest> = {}): unknown {
  return render({ items, ...changes }).body.messages;
}

function actionsOf(items: readonly Item[], target: Partial<RenderTarget> = {}): string[] {
  return render({ items }, target).report.map(({ action, detail }) => `${action}: ${detail}`);
}

const user = (...texts: string[]): Item => ({
  type: 'message',
  role: 'user',
  content: texts.map((text) => ({ type: 'text', text })),
});
const assistant = (text: string): Item => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text }],
});
const call = (callId: string, more: Partial<ToolCallItem> = {}): ToolCallItem => ({
  type: 'tool-call',
  kind: 'function',
  callId,
  name: 'f',
  input: '{"a":1}',
  ...more,
});
const result = (callId: string, text = 'ok', more: Partial<ToolResultItem> = {}): ToolResultItem => ({
  type: 'tool-result',
  kind: 'function',
  callId,
  content: [{ type: 'text', text }],
  ...more,
});
const toolUse = (toolUseId: string): JsonObject => ({ toolUse: { toolUseId, name: 'f', input: { a: 1 } } });
const toolResult = (toolUseId: string, text = 'ok'): JsonObject => ({
  toolResult: { toolUseId, content: [{ text }] },
});
/** Ids of the calls or results in rendered turns, in order. */
function idsIn(turns: unknown, member: 'toolUse' | 'toolResult'): unknown[] {
  const blocks = (turns as { content: JsonObject[] }[]).flatMap(({ content }) => content);
  return blocks.flatMap((block) => (block[member] as JsonObject | undefined)?.toolUseId ?? []);
}

const F: Tool = { type: 'function', name: 'f' };

describe('the path', () => {
  it.each([
    ['us.anthropic.claude-v1:0', true, '/model/us.anthropic.claude-v1%3A0/converse-stream'],
    ['amazon.nova-micro-v1:0', false, '/model/amazon.nova-micro-v1%3A0/converse'],
    [
      'arn:aws:bedrock:eu-west-1:1:application-inference-profile/x',
      false,
      '/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Aapplication-inference-profile%2Fx/converse',
    ],
  ])('of %s names the model, written once in percent signs', (model, stream, path) => {
    expect(bedrock.upstream.path(model, stream)).toBe(path);
  });
});

describe('turns', () => {
  it('alternate: what one side says in a row is one turn', () => {
    expect(turnsOf([user('a'), user('b', 'c'), assistant('d'), assistant('e'), user('f')])).toEqual([
      { role: 'user', content: [{ text: 'a' }, { text: 'b' }, { text: 'c' }] },
      { role: 'assistant', content: [{ text: 'd' }, { text: 'e' }] },
      { role: 'user', content: [{ text: 'f' }] },
    ]);
  });

  it('begin with the user', () => {
    const items = [assistant('Hello'), user('Hi')];
    expect(turnsOf(items)).toMatchObject([{ role: 'user' }, { role: 'assistant' }, { role: 'user' }]);
    expect(actionsOf(items)).toEqual([expect.stringContaining('wants one first')]);
  });

  it('hold some text beside documents', () => {
    const source = { kind: 'base64', mediaType: 'application/pdf', data: 'AAAA' } as const;
    const file: Part = { type: 'file', source };
    const document = { document: { name: 'document', format: 'pdf', source: { bytes: 'AAAA' } } };
    expect(turnsOf([{ type: 'message', role: 'user', content: [file] }])).toEqual([
      { role: 'user', content: [document, { text: 'See the document.' }] },
    ]);
    expect(turnsOf([{ type: 'message', role: 'user', content: [file] }, user('q')])).toEqual([
      { role: 'user', content: [document, { text: 'q' }] },
    ]);
  });
});

describe('calls and results', () => {
  it('of one turn are answered together, before anything else', () => {
    const items = [user('q'), call('x'), call('y'), user('and'), result('y', 'Y'), result('x', 'X')];
    expect(turnsOf(items, { tools: [F] })).toEqual([
      { role: 'user', content: [{ text: 'q' }] },
      { role: 'assistant', content: [toolUse('x'), toolUse('y')] },
      { role: 'user', content: [toolResult('y', 'Y'), toolResult('x', 'X'), { text: 'and' }] },
    ]);
  });

  it('get ids as the upstream takes them, the same ones for the same ids', () => {
    const odd = `call:${'ü'.repeat(100)}`;
    const turns = turnsOf([user('q'), call(odd), result(odd)], { tools: [F] });
    expect(idsIn(turns, 'toolUse')).toEqual([expect.stringMatching(/^[a-zA-Z0-9_-]{1,64}$/)]);
    expect(idsIn(turns, 'toolResult')).toEqual(idsIn(turns, 'toolUse'));
  });

  it('keep ids apart that come again', () => {
    const items = [
      user('q'),
      call('x'),
      call('x'),
      result('x', '1'),
      result('x', '2'),
      call('x'),
      result('x', '3'),
    ];
    const turns = turnsOf(items, { tools: [F] });
    const used = idsIn(turns, 'toolUse');
    const got = idsIn(turns, 'toolResult');
    expect(new Set(used).size).toBe(3);
    expect(used[0]).toBe('x');
    expect(got).toEqual(used);
  });

  it('a call without a result gets one that says so', () => {
    for (const items of [
      [user('q'), call('x'), user('never mind')],
      [user('q'), call('x')],
    ]) {
      const turns = turnsOf(items, { tools: [F] }) as { content: JsonObject[] }[];
      expect(turns[2]?.content[0]).toEqual({
        toolResult: { toolUseId: 'x', content: [{ text: 'No result was given.' }], status: 'error' },
      });
      expect(actionsOf(items)).toContainEqual(expect.stringContaining('coerced: has no result'));
    }
  });

  it('a result without its call becomes plain content', () => {
    const items = [user('q'), result('gone', 'data', { cache: {} }), assistant('a'), user('b')];
    expect(turnsOf(items)).toEqual([
      {
        role: 'user',
        content: [
          { text: 'q' },
          { text: '[Result of a tool call]' },
          { text: 'data' },
          { cachePoint: { type: 'default' } },
        ],
      },
      { role: 'assistant', content: [{ text: 'a' }] },
      { role: 'user', content: [{ text: 'b' }] },
    ]);
    expect(actionsOf(items)).toEqual([expect.stringContaining('coerced: answers no call')]);
  });

  it('become text for an endpoint without tools', () => {
    const items = [user('q'), call('x'), result('x', 'data')];
    const { body } = render({ items, tools: [F] }, { supportedParameters: new Set(['max_tokens']) });
    expect(body).toEqual({
      messages: [
        { role: 'user', content: [{ text: 'q' }] },
        { role: 'assistant', content: [{ text: '[Called the tool f with {"a":1}]' }] },
        { role: 'user', content: [{ text: '[Result of a tool call]' }, { text: 'data' }] },
      ],
    });
  });

  it('of free-text tools and groups go out under their flat names', () => {
    const tools: Tool[] = [
      { type: 'custom', name: 'patch' },
      { type: 'function', name: 'list', namespace: { name: 'files' } },
    ];
    const items = [
      user('q'),
      call('x', { kind: 'custom', name: 'patch', input: 'free text' }),
      call('y', { name: 'list', namespace: 'files' }),
      result('x', 'ok', { kind: 'custom' }),
      result('y'),
    ];
    expect(render({ items, tools }).body).toMatchObject({
      messages: [
        {},
        {
          content: [
            { toolUse: { name: 'patch', input: { input: 'free text' } } },
            { toolUse: { name: 'files__list', input: { a: 1 } } },
          ],
        },
        {},
      ],
      toolConfig: {
        tools: [
          { toolSpec: { name: 'patch', inputSchema: { json: { required: ['input'] } } } },
          { toolSpec: { name: 'files__list', inputSchema: { json: { type: 'object' } } } },
        ],
      },
    });
  });

  it('keep images and documents in results', () => {
    const content: Part[] = [
      { type: 'text', text: 'See', cache: { ttl: '1h' } },
      { type: 'image', source: { kind: 'base64', mediaType: 'image/jpg', data: 'AAAA' } },
      { type: 'file', filename: 'a b.csv', source: { kind: 'text', mediaType: 'text/csv', text: 'x;y' } },
    ];
    const items = [user('q'), call('x'), result('x', '', { content })];
    expect(turnsOf(items, { tools: [F] })).toMatchObject([
      {},
      {},
      {
        content: [
          {
            toolResult: {
              content: [
                { text: 'See' },
                { image: { format: 'jpeg', source: { bytes: 'AAAA' } } },
                { document: { name: 'a b', format: 'csv', source: { bytes: 'eDt5' } } },
              ],
            },
          },
          // No cache point can stand inside a result.
          { cachePoint: { type: 'default', ttl: '1h' } },
        ],
      },
    ]);
  });
});

describe('tools', () => {
  const history = [user('q'), call('x'), result('x')];

  it('that were called are declared, because the upstream demands tools where there were calls', () => {
    const { body, report } = render({ items: history });
    expect(body.toolConfig).toMatchObject({ tools: [{ toolSpec: { name: 'f' } }] });
    expect(report).toMatchObject([{ field: 'tools', action: 'coerced' }]);
  });

  it('stay where calls are forbidden and earlier turns have some', () => {
    const { body, report } = render({ items: history, tools: [F], toolChoice: { mode: 'none' } });
    expect(body.toolConfig).toEqual({
      tools: [{ toolSpec: { name: 'f', inputSchema: { json: { type: 'object' } } } }],
    });
    expect(report).toMatchObject([{ field: 'tool_choice', action: 'coerced' }]);
  });

  it('are left out where calls are forbidden and there were none', () => {
    const { body, report } = render({ tools: [F], toolChoice: { mode: 'none' } });
    expect(body).not.toHaveProperty('toolConfig');
    expect(report).toMatchObject([{ field: 'tool_choice', action: 'coerced' }]);
  });

  it('are not forced while the model thinks', () => {
    const { body, report } = render({
      tools: [F],
      toolChoice: { mode: 'required' },
      reasoning: { effort: 'low' },
    });
    expect(body.toolConfig).not.toHaveProperty('toolChoice');
    expect(report).toMatchObject([{ field: 'tool_choice', action: 'coerced' }]);
  });
});

describe('thinking', () => {
  it('leaves room for the answer if the request has no limit, and sets one only if needed', () => {
    expect(render({ reasoning: { budgetTokens: 10_000 } }).body).toMatchObject({
      inferenceConfig: { maxTokens: 14_096 },
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 10_000 } },
    });
    expect(render({}).body).toEqual({ messages: [{ role: 'user', content: [{ text: 'Hello' }] }] });
    expect(render({}, { outputLimit: 500 }).body).not.toHaveProperty('inferenceConfig');
  });

  it('counts as on for a model that always thinks, also without a setting', () => {
    const { body, report } = render(
      { sampling: { temperature: 0.2, topK: 3 }, tools: [F], toolChoice: { mode: 'required' } },
      { alwaysThinks: true },
    );
    expect(body).not.toHaveProperty('inferenceConfig');
    expect(body).not.toHaveProperty('additionalModelRequestFields');
    expect(body.toolConfig).not.toHaveProperty('toolChoice');
    expect(report.map(({ field, action }) => `${field} ${action}`).sort()).toEqual([
      'temperature dropped',
      'tool_choice coerced',
      'top_k dropped',
    ]);
  });

  it('is left to models without budgets', () => {
    const { body, report } = render({ reasoning: { effort: 'high' } }, { takesBudget: false });
    expect(body.additionalModelRequestFields).toEqual({
      thinking: { type: 'adaptive', display: 'summarized' },
    });
    expect(body.outputConfig).toEqual({ effort: 'high' });
    expect(body).not.toHaveProperty('inferenceConfig');
    expect(report).toEqual([]);
  });

  it('is switched off in a turn without its thoughts', () => {
    const items = [user('q'), call('x'), result('x')];
    const { body, report } = render({ items, tools: [F], reasoning: { effort: 'low' } });
    expect(body.additionalModelRequestFields).toEqual({ thinking: { type: 'disabled' } });
    expect(report).toMatchObject([{ field: 'reasoning', action: 'coerced' }]);
    const thought: Item = {
      type: 'reasoning',
      text: ['hm'],
      summary: [],
      signature: 's',
      format: 'anthropic-claude-v1',
    };
    const sealed = render({
      items: [user('q'), thought, call('x'), result('x')],
      tools: [F],
      reasoning: { effort: 'low' },
    });
    expect(sealed.body).toMatchObject({ additionalModelRequestFields: { thinking: { type: 'enabled' } } });
    expect(sealed.report).toEqual([]);
  });

  it.each<[string, GenerationRequest['reasoning'], JsonObject | undefined]>([
    ['amazon.nova-2', { effort: 'low' }, { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'low' } }],
    [
      'amazon.nova-2',
      { effort: 'max' },
      { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } },
    ],
    ['amazon.nova-2', { enabled: false }, { reasoningConfig: { type: 'disabled' } }],
    ['amazon.nova-2', { adaptive: true }, { reasoningConfig: { maxReasoningEffort: 'medium' } }],
    ['openai.gpt-oss-20b', { effort: 'minimal' }, { reasoning_effort: 'low' }],
    ['openai.gpt-oss-20b', { effort: 'none' }, { reasoning_effort: 'low' }],
    ['openai.gpt-oss-20b', { budgetTokens: 100 }, { reasoning_effort: 'low' }],
    ['openai.gpt-oss-20b', {}, undefined],
    ['deepseek.r1', { effort: 'low' }, undefined],
    ['application-inference-profile/x', { effort: 'low' }, { thinking: { type: 'enabled' } }],
  ])('of %s at %j is asked for in its own words', (model, reasoning, fields) => {
    const { body } = render({ ...(reasoning && { reasoning }) }, { model });
    if (fields === undefined) expect(body).not.toHaveProperty('additionalModelRequestFields');
    else expect(body.additionalModelRequestFields).toMatchObject(fields);
  });

  it('at the highest effort of some models allows no limit', () => {
    const { body, report } = render(
      { reasoning: { effort: 'high' }, requestedOutputTokens: 900 },
      { model: 'amazon.nova-2' },
    );
    expect(body).toMatchObject({
      inferenceConfig: { maxTokens: 900 },
      additionalModelRequestFields: { reasoningConfig: { maxReasoningEffort: 'medium' } },
    });
    expect(report).toMatchObject([{ field: 'reasoning', action: 'coerced' }]);
  });
});

describe('a JSON schema', () => {
  const outputFormat = { type: 'json-schema', name: 'n', schema: { type: 'object' } } as const;

  it('is demanded of models that can be held to it, and asked of the others', () => {
    expect(render({ outputFormat }).body).toHaveProperty('outputConfig');
    const { body, report } = render({ outputFormat }, { model: 'amazon.nova-pro-v1:0' });
    expect(body).not.toHaveProperty('outputConfig');
    expect(body.system).toEqual([{ text: expect.stringContaining('{"type":"object"}') }]);
    expect(report).toMatchObject([{ field: 'text.format', action: 'coerced' }]);
  });
});

describe('seals', () => {
  it.each<[string, Partial<Extract<Item, { type: 'reasoning' }>>, JsonObject | undefined]>([
    [
      'its own signature',
      { text: ['a', 'b'], signature: 'c2ln', format: 'anthropic-claude-v1' },
      { reasoningText: { text: 'a\n\nb', signature: 'c2ln' } },
    ],
    [
      'a signature over hidden thoughts',
      { signature: 'c2ln', format: 'anthropic-claude-v1' },
      { reasoningText: { text: '', signature: 'c2ln' } },
    ],
    [
      'redacted thoughts of its family',
      { encrypted: 'Sealed', format: 'anthropic-claude-v1' },
      { redactedContent: 'U2VhbGVk' },
    ],
    ['bytes of its own', { encrypted: '//4A', format: 'amazon-bedrock-v1' }, { redactedContent: '//4A' }],
    ['an empty signature', { text: ['a'], signature: '', format: 'anthropic-claude-v1' }, undefined],
    ['another family', { text: ['a'], encrypted: 'e', format: 'openai-responses-v1' }, undefined],
    ['no seal', { text: ['a'] }, undefined],
  ])('%s', (_, seal, block) => {
    const thought: Item = { type: 'reasoning', text: [], summary: [], ...seal };
    const items = [user('q'), thought, assistant('a'), user('b')];
    const turns = turnsOf(items) as { content: JsonObject[] }[];
    const first = turns[1]?.content[0];
    if (block === undefined) {
      expect(first).toEqual({ text: 'a' });
      expect(actionsOf(items)).toEqual([expect.stringMatching(/^dropped: reasoning/)]);
    } else {
      expect(first).toEqual({ reasoningContent: block });
      expect(actionsOf(items)).toEqual([]);
    }
  });
});

describe('the relay lane', () => {
  it('does not exist', () => {
    expect(bedrock.upstream.renderRelay).toBeUndefined();
  });
});

describe('betas', () => {
  const betas = ['context-1m-2025-08-07', 'claude-code-20250219', 'context-1m-2025-08-07'];

  it('that the model takes are named once, others are in the report', () => {
    const { body, report } = render({}, { betas });
    expect(body.additionalModelRequestFields).toEqual({ anthropic_beta: ['context-1m-2025-08-07'] });
    expect(report).toEqual([
      {
        field: 'anthropic-beta',
        action: 'dropped',
        detail: 'the upstream does not take claude-code-20250219',
      },
    ]);
  });

  it('are not for models of other makers', () => {
    const { body, report } = render({}, { model: 'amazon.nova-pro-v1:0', betas });
    expect(body.additionalModelRequestFields).toBeUndefined();
    expect(report).toMatchObject([{ field: 'anthropic-beta', action: 'dropped' }]);
  });
});
