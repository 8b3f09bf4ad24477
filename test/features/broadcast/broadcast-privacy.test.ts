import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { chatAnswer } from '../../kit/fakes/answers.ts';
import { type FakeMcpServer, openMcpServer, tool } from '../../kit/fakes/mcp-server.ts';
import { type OtlpReceiver, openOtlpReceiver } from '../../kit/fakes/otlp-receiver.ts';
import { type Management, managementOf } from '../../kit/management.ts';
import { openToolGateway, PATHS, QUESTION, type ToolGateway } from '../tools/tool-gateway.ts';

/** Who is told of a generation, and what nobody is told. */

const PATH = '/observability/destinations';
const MCP = { type: 'mcp', server_label: 'docs', require_approval: 'never' };

let here: OtlpReceiver;
let there: OtlpReceiver;
let docs: FakeMcpServer;
let tools: ToolGateway;
let management: Management;
/** Management key of another account. */
let stranger: string;
let workspaceId: string;
/** Of that workspace, of the default one, and of the other account. */
let keys: { readonly own: string; readonly other: string; readonly foreign: string };
let ownHash: string;

const destination = (receiver: OtlpReceiver, more: JsonObject = {}): JsonObject => ({
  type: 'otel-collector',
  name: 'Collector',
  config: { endpoint: receiver.origin },
  ...more,
});

beforeAll(async () => {
  [here, there] = await Promise.all([openOtlpReceiver(), openOtlpReceiver()]);
  docs = await openMcpServer({
    tools: () => ({ tools: [tool('search')], ttlMs: 0 }),
    call: () => ({ content: [{ type: 'text', text: 'canary of a tool, marked' }] }),
  });
  tools = await openToolGateway({
    egress: { allow: [here, there].map(({ origin }) => new URL(origin).host) },
    tools: { mcp_servers: { docs: { url: docs.url } } },
    plugins: { fusion: { panel: ['m/chat', 'm/other'], judge: 'm/chat' } },
  });
  management = managementOf(tools.gateway);
  stranger = (await management.command('accounts.create', { name: 'stranger' })).management_key;
  const isOn = { is_observability_broadcast_enabled: true };
  const workspace = await management.data(201, 'POST', '/workspaces', { name: 'A', slug: 'a', ...isOn });
  workspaceId = workspace.id;
  for (const key of [undefined, stranger]) {
    await management.data(200, 'PATCH', '/workspaces/default', isOn, key);
  }
  const own = (await management.ask('POST', '/keys', { name: 'own', workspace_id: workspaceId })).body;
  const foreign = (await management.ask('POST', '/keys', { name: 'foreign' }, stranger)).body;
  ownHash = own.data.hash;
  keys = { own: own.key, other: tools.gateway.apiKey, foreign: foreign.key };
  await management.data(201, 'POST', PATH, destination(here, { workspace_id: workspaceId }));
});

afterAll(async () => {
  await tools.close();
  await Promise.all([here, there, docs].map((each) => each.close()));
});

beforeEach(() => tools.upstream.clear());

/** Asks, and gives the id of the generation. */
async function ask(key: string, body: object, path = '/chat/completions'): Promise<string> {
  const response = await tools.gateway.fetch(path, {
    method: 'POST',
    key,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await response.text();
  const id = response.headers.get('x-generation-id');
  expect(id, String(response.status)).not.toBeNull();
  return id ?? '';
}

const has = (receiver: OtlpReceiver, id: string) =>
  receiver.spans().some(({ attributes }) => attributes['signalbox.generation.id'] === id);

/** All spans of the trace of a generation, as text, once they have come. */
async function toldOf(id: string): Promise<string> {
  await expect.poll(() => has(here, id)).toBe(true);
  const root = here.spans().find(({ attributes }) => attributes['signalbox.generation.id'] === id);
  return JSON.stringify(here.spans().filter(({ traceId }) => traceId === root?.traceId));
}

const prompt = { model: 'm/chat', messages: [{ role: 'user', content: 'canary of a prompt' }] };

describe('a destination', () => {
  it('is told of its own workspace, and made in no other account', async () => {
    for (const [more, status] of [
      [{ workspace_id: workspaceId }, 404],
      [{ api_key_hashes: [ownHash] }, 400],
      [{}, 201],
    ] as const) {
      const answer = await management.ask(
        'POST',
        PATH,
        destination(there, { ...more } as JsonObject),
        stranger,
      );
      expect([more, answer.status]).toEqual([more, status]);
    }
    tools.answers('m/chat', { text: 'canary of an answer' });
    const other = await ask(keys.other, prompt);
    const own = await ask(keys.own, prompt);
    const foreign = await ask(keys.foreign, prompt);
    // The later ones have come, so the first would have.
    expect(await toldOf(own)).toContain('canary of a prompt');
    await expect.poll(() => has(there, foreign)).toBe(true);
    const ids = (receiver: OtlpReceiver) =>
      receiver.spans().flatMap(({ attributes }) => attributes['signalbox.generation.id'] ?? []);
    expect(ids(here)).toEqual([own]);
    expect(ids(there)).toEqual([foreign]);
    expect([here, there].some((receiver) => has(receiver, other))).toBe(false);
  });

  it('is told no words under zero retention, asked for by the request or by a guardrail', async () => {
    const rules = { name: 'Nothing is kept', enforce_zdr: true, workspace_id: workspaceId };
    const { id } = await management.data(201, 'POST', '/guardrails', rules);
    const { body: made } = await management.ask('POST', '/keys', { name: 'zdr', workspace_id: workspaceId });
    await management.ask('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [made.data.hash] });
    const wish = { provider: { zdr: true, only: ['chatter'] } };
    const asked: string[] = [];
    for (const path of PATHS) {
      for (const stream of [false, true]) {
        for (const more of [{}, { plugins: [{ id: 'fusion' }] }, { tools: [MCP] }]) {
          if (path === '/messages' && 'tools' in more) continue;
          const text =
            path === '/responses' ? { input: 'canary of a prompt' } : { ...QUESTION[path], ...prompt };
          const body = { ...text, model: 'm/chat', stream, ...more };
          for (const [key, wishes] of [
            [made.key, {}],
            [keys.own, wish],
          ] as const) {
            tools.upstream.clear();
            if ('tools' in more) {
              const call = { name: 'docs__search', arguments: '{"text":"canary of a call"}', id: 'a' };
              tools.upstream.answer(chatAnswer({ tools: [call] }));
            }
            tools.upstream.answer(chatAnswer({ text: 'canary of an answer' }));
            asked.push(await ask(key, { ...body, ...wishes }, path));
          }
        }
      }
    }
    for (const each of asked) expect(await toldOf(each)).not.toContain('canary');
  });

  it('is told what a guardrail redacted as the model was, and the answer as the caller was', async () => {
    const { id } = await management.data(201, 'POST', '/guardrails', {
      name: 'Addresses',
      workspace_id: workspaceId,
      content_filter_builtins: [{ slug: 'email', action: 'redact' }],
    });
    const { body: made } = await management.ask('POST', '/keys', { name: 'shy', workspace_id: workspaceId });
    await management.ask('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [made.data.hash] });
    for (const path of PATHS) {
      for (const stream of [false, true]) {
        tools.upstream.clear();
        tools.upstream.answer(chatAnswer({ text: 'Write to bob@example.com instead.' }));
        const text = 'I am ann@example.com, and who are you?';
        const said =
          path === '/responses' ? { input: text } : { messages: [{ role: 'user', content: text }] };
        const told = await toldOf(
          await ask(made.key, { ...QUESTION[path], ...said, model: 'm/chat', stream }, path),
        );
        expect(told).not.toContain('@example.com');
        expect(told).toMatch(/I am \[EMAIL\], and who are you\?.*Write to \[EMAIL\] instead/s);
      }
    }
  });

  it('is told the prompt of the caller if only the result of a tool was redacted', async () => {
    const { id } = await management.data(201, 'POST', '/guardrails', {
      name: 'Marks',
      workspace_id: workspaceId,
      content_filters: [{ pattern: 'marked', action: 'redact', label: 'MARK' }],
    });
    const { body: made } = await management.ask('POST', '/keys', { name: 'tool', workspace_id: workspaceId });
    await management.ask('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [made.data.hash] });
    for (const [input, places] of [
      ['Look it up.', [true]],
      ['Look up what is marked.', [undefined, true]],
    ] as const) {
      tools.upstream.clear();
      const call = { name: 'docs__search', arguments: '{"text":"x"}', id: 'a' };
      tools.upstream.answer(chatAnswer({ tools: [call] }));
      tools.upstream.answer(chatAnswer({ text: 'Done.' }));
      const asked = await ask(made.key, { model: 'm/chat', input, tools: [MCP] }, '/responses');
      const told = await toldOf(asked);
      expect(told).not.toContain('marked');
      const record = await tools.gateway.fetch(`/generation?id=${asked}`, { key: made.key });
      const { pipeline } = ((await record.json()) as any).data.routing;
      const sent = pipeline.filter(({ data }: any) => data?.direction === 'sent');
      expect(sent.map(({ data }: any) => data.added)).toEqual(places);
      const spans = here.spans().filter(({ name }) => name === 'guardrail content-filter');
      const root = here.spans().find(({ attributes }) => attributes['signalbox.generation.id'] === asked);
      const starts = spans
        .filter(({ parentSpanId, attributes }) => {
          const isSent = attributes['signalbox.guardrail.direction'] === 'sent';
          return isSent && parentSpanId === root?.spanId;
        })
        .map(({ startMs }) => startMs === root?.startMs);
      // Results of tools do not stand at the beginning.
      expect(starts).toEqual(places.map((isAdded) => isAdded === undefined));
    }
  });

  it('is told no words of what was blocked after many steps that guardrails noted', async () => {
    const { id } = await management.data(201, 'POST', '/guardrails', {
      name: 'Rules',
      workspace_id: workspaceId,
      content_filters: [
        { pattern: 'forbidden', action: 'block', label: 'WORD' },
        { pattern: 'marked', action: 'flag', label: 'MARK' },
      ],
    });
    const { body: made } = await management.ask('POST', '/keys', { name: 'many', workspace_id: workspaceId });
    await management.ask('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [made.data.hash] });
    for (const stream of [false, true]) {
      tools.upstream.clear();
      for (let step = 0; step < 16; step++) {
        const call = { name: 'docs__search', arguments: `{"text":"${step}"}`, id: `call_${step}` };
        tools.upstream.answer(chatAnswer({ text: 'canary of a step, marked. ', tools: [call] }));
      }
      tools.upstream.answer(chatAnswer({ text: 'a forbidden end' }));
      const stop = [{ type: 'step_count_is', step_count: 30 }];
      const body = { model: 'm/chat', input: 'canary of a prompt', stream, tools: [MCP] };
      const blocked = await ask(made.key, { ...body, stop_server_tools_when: stop }, '/responses');
      const told = await toldOf(blocked);
      expect(told).toContain('permission_denied (403)');
      expect(told).not.toContain('canary');
      const record = await tools.gateway.fetch(`/generation?id=${blocked}`, { key: made.key });
      const { pipeline } = ((await record.json()) as any).data.routing;
      expect(pipeline).toHaveLength(32);
      expect(pipeline.filter(({ data }: any) => data?.action === 'blocked')).toHaveLength(1);
    }
  });
});
