import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Format } from '../../src/ir/items.ts';
import type { JsonObject } from '../../src/kit/json/json.ts';
import { searchingWith } from '../features/tools/search-engine.ts';
import {
  openToolGateway,
  PATHS,
  type Path,
  QUESTION,
  type ToolGateway,
  type ToolModel,
} from '../features/tools/tool-gateway.ts';
import type { AnswerContent } from '../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream, reply } from '../kit/fakes/fake-upstream.ts';
import { type FakeMcpServer, openMcpServer, tool } from '../kit/fakes/mcp-server.ts';
import { openTestGateway } from '../kit/gateway-harness.ts';
import { GREETINGS } from './matrix/answer-feature.ts';
import { ANSWER_MATRIX } from './matrix/answer-matrix.ts';
import { receivedText, WAYS } from './matrix/judge-answer.ts';
import { FORMATS, UPSTREAMS } from './matrix/verdict.ts';
import { nullMembersOf } from './types/null-members.ts';

/**
 * A member that the owner of a format leaves out is left out, not null: SDKs whose parsers know a member as optional
 * refuse a null. Every null that callers get is one that its published type demands, or stands in one of these tables.
 */

/** The owner writes these nulls, as recorded answers show. */
const WRITTEN_BY_OWNERS = [
  'Response.usage',
  'Response.user',
  'Response.max_tool_calls',
  'Response.max_output_tokens',
  'Response.previous_response_id',
  'Response.prompt_cache_key',
  'Response.safety_identifier',
  'Response.completed_at',
  'Reasoning.effort',
  'Reasoning.summary',
  'FunctionTool.description',
  'ChatCompletionChunk.Choice.logprobs',
];

/** Optional in the published types, which allow null; parsers of SDKs take it. */
const ALLOWED_BY_TYPES = ['Response.reasoning', 'ResponseOutputItem.McpCall.error'];

/** The type of a call without an outcome: strict parsers demand the member. */
const WITHOUT_OUTCOME = ['ResponseOutputItem.McpCall.output'];

/** Members of hosted routers, whose SDK demands them; the owner of the format has none or leaves them out. */
const OF_ROUTERS = [
  'ChatCompletion.system_fingerprint',
  'ChatCompletion.Choice.native_finish_reason',
  'ChatCompletionChunk.Choice.native_finish_reason',
  'ChatCompletionMessage.reasoning',
];

const ALLOWED = new Set([...WRITTEN_BY_OWNERS, ...ALLOWED_BY_TYPES, ...WITHOUT_OUTCOME, ...OF_ROUTERS]);

/** Nulls that published types demand, and that owners leave out: SDKs of others refuse them. */
const LEFT_OUT_BY_OWNERS = new Set(['BetaDocumentBlock.citations']);

function problemsOf(format: Format | 'embeddings', values: readonly JsonObject[]): string[] {
  const nulls = values.flatMap((value) => nullMembersOf(format, value));
  const problems = nulls.filter(({ member, type }) =>
    type === 'demanded' ? LEFT_OUT_BY_OWNERS.has(member) : !ALLOWED.has(member),
  );
  return [...new Set(problems.map(({ member, type }) => `${member}: ${type}`))];
}

/** The bodies of an answer: one, or the events of a stream. */
function bodiesIn(text: string): JsonObject[] {
  if (text.startsWith('{')) return [JSON.parse(text)];
  const lines = text.split('\n').filter((line) => line.startsWith('data: {'));
  return lines.map((line) => JSON.parse(line.slice('data: '.length)));
}

describe('nulls in translated answers', () => {
  const pairs = FORMATS.flatMap((format) => UPSTREAMS.map((upstream) => ({ format, upstream })));
  it.each(pairs)('$upstream to $format', ({ format, upstream }) => {
    let checked = 0;
    for (const { title, asked, answered } of ANSWER_MATRIX) {
      const question = asked === undefined ? GREETINGS[format] : asked[format];
      const answer = answered[upstream];
      if (question === undefined || answer === undefined) continue;
      for (const way of WAYS) {
        const bodies = bodiesIn(receivedText(answer, question, format, upstream, 'translate', way));
        expect(problemsOf(format, bodies), `${title}, ${way}`).toEqual([]);
        checked += bodies.length;
      }
    }
    expect(checked).toBeGreaterThan(50);
  });
});

describe('nulls in answers with server tools', () => {
  let tools: ToolGateway;
  let engine: FakeUpstream;
  let docs: FakeMcpServer;
  let page: string;

  beforeAll(async () => {
    engine = await openFakeUpstream();
    docs = await openMcpServer({
      tools: () => ({ tools: [tool('search'), tool('broken')], ttlMs: 0 }),
      call: ({ params }) => ({
        content: [{ type: 'text', text: 'A page.' }],
        isError: params.name === 'broken',
      }),
    });
    const { plugins, egress } = searchingWith(engine);
    tools = await openToolGateway({
      plugins,
      egress: { allow: [...egress.allow, `127.0.0.1:${docs.port}`] },
      tools: {
        image_generation: { model: 'm/image' },
        sandbox: { url: `http://127.0.0.1:${engine.port}/`, token: 'token-of-the-sandbox' },
      },
    });
    page = `http://127.0.0.1:${engine.port}/page`;
  });
  afterAll(async () => {
    await tools.close();
    await Promise.all([engine.close(), docs.close()]);
  });

  const SEARCHED = { results: [{ url: 'https://example.com/a', title: 'A', content: 'The first letter.' }] };
  const HTML = '<html><head><title>A page</title></head><body><p>A is the first letter.</p></body></html>';
  const ANALYSIS = JSON.stringify({
    consensus: ['It is A.'],
    contradictions: [],
    partial_coverage: [],
    unique_insights: [],
    blind_spots: [],
  });

  interface Scenario {
    readonly title: string;
    readonly paths?: readonly Path[];
    /** Members of the request. */
    readonly asked: () => JsonObject;
    /** The call of the model: name and arguments. */
    readonly called: () => readonly [name: string, input: JsonObject];
    /** What models that tools ask answer, in their order. */
    readonly nested?: readonly AnswerContent[];
    readonly engine?: () => ReturnType<typeof reply>;
    /** A kind of item or block that the answer must have, so that the scenario is what it says. */
    readonly shows?: Partial<Record<Path, string>>;
  }

  const of = (type: string, parameters?: JsonObject) => ({
    tools: [{ type: `signalbox:${type}`, ...(parameters !== undefined && { parameters }) }],
  });
  const mcp = (name: string, require_approval: string): Omit<Scenario, 'title'> => ({
    paths: ['/responses'],
    asked: () => ({ tools: [{ type: 'mcp', server_label: 'docs', server_url: docs.url, require_approval }] }),
    called: () => [`docs__${name}`, { text: 'hi' }],
  });
  const asksPage = () => ['web_fetch', { url: page }] as const;
  const gotPage = () => reply(200, HTML, { 'content-type': 'text/html' });
  const searched = () => reply(200, SEARCHED);
  const search = () => ['web_search', { query: 'a' }] as const;
  const ran = () => reply(200, { stdout: 'a', stderr: '', exit_code: 0 });

  const SCENARIOS: readonly Scenario[] = [
    { title: 'datetime', asked: () => of('datetime'), called: () => ['datetime', {}] },
    {
      title: 'web_search',
      asked: () => of('web_search'),
      called: search,
      engine: searched,
      shows: { '/messages': 'web_search_tool_result' },
    },
    {
      title: 'web_search of messages',
      paths: ['/messages'],
      asked: () => ({ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }),
      called: search,
      engine: searched,
      shows: { '/messages': 'web_search_tool_result' },
    },
    {
      title: 'web_search of responses',
      paths: ['/responses'],
      asked: () => ({ tools: [{ type: 'web_search' }] }),
      called: search,
      engine: searched,
      shows: { '/responses': 'web_search_call' },
    },
    {
      title: 'web_fetch',
      asked: () => of('web_fetch'),
      called: asksPage,
      engine: gotPage,
      shows: { '/messages': 'web_fetch_tool_result' },
    },
    {
      title: 'web_fetch of messages',
      paths: ['/messages'],
      asked: () => ({
        tools: [{ type: 'web_fetch_20250910', name: 'web_fetch', citations: { enabled: true } }],
      }),
      called: asksPage,
      engine: gotPage,
      shows: { '/messages': 'document' },
    },
    { title: 'an MCP tool', ...mcp('search', 'never'), shows: { '/responses': 'mcp_list_tools' } },
    { title: 'an MCP tool that fails', ...mcp('broken', 'never'), shows: { '/responses': 'mcp_call' } },
    {
      title: 'an MCP tool that needs approval',
      ...mcp('search', 'always'),
      shows: { '/responses': 'mcp_approval_request' },
    },
    {
      title: 'an MCP server of messages',
      paths: ['/messages'],
      asked: () => ({ mcp_servers: [{ type: 'url', name: 'docs', url: docs.url }] }),
      called: () => ['docs__search', { text: 'hi' }],
      shows: { '/messages': 'mcp_tool_result' },
    },
    {
      title: 'advisor',
      asked: () => of('advisor', { model: 'm/other' }),
      called: () => ['advisor', { prompt: 'Which?' }],
      nested: [{ text: 'A.' }],
    },
    {
      title: 'fusion',
      asked: () => of('fusion', { analysis_models: ['m/other'], model: 'm/other', tools: [] }),
      called: () => ['fusion', { prompt: 'Which?' }],
      nested: [{ text: 'A.' }, { text: ANALYSIS }],
    },
    {
      title: 'files',
      asked: () => of('files'),
      called: () => ['files', { operation: 'write', filename: 'a.md', content: 'A' }],
    },
    {
      title: 'apply_patch',
      paths: ['/responses'],
      asked: () => of('apply_patch'),
      called: () => ['apply_patch', { operation: { type: 'create_file', path: 'a', diff: '+A' } }],
    },
    {
      title: 'search_models',
      asked: () => of('experimental__search_models'),
      called: () => ['search_models', {}],
    },
    {
      title: 'shell',
      paths: ['/responses'],
      asked: () => ({ tools: [{ type: 'shell', environment: { type: 'container_auto' } }] }),
      called: () => ['shell', { commands: ['ls'] }],
      engine: ran,
      shows: { '/responses': 'signalbox:shell' },
    },
    {
      title: 'code_interpreter',
      paths: ['/responses'],
      asked: () => ({ tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }),
      called: () => ['code_interpreter', { code: 'print("a")' }],
      engine: ran,
      shows: { '/responses': 'code_interpreter_call' },
    },
    {
      title: 'image_generation',
      paths: ['/responses'],
      asked: () => ({ tools: [{ type: 'image_generation' }] }),
      called: () => ['image_generation', { prompt: 'a boat' }],
      nested: [{ text: 'There is none.' }],
      shows: { '/responses': 'image_generation_call' },
    },
    {
      title: 'a function of the caller',
      paths: ['/responses'],
      asked: () => ({
        tools: [{ type: 'function', name: 'a', parameters: {} }, { type: 'signalbox:datetime' }],
        reasoning: { effort: 'low' },
      }),
      called: () => ['a', {}],
      shows: { '/responses': 'function_call' },
    },
  ];

  const MODELS: readonly ToolModel[] = ['m/chat', 'm/responses', 'm/messages'];
  const FORMAT_AT: Record<Path, Format> = {
    '/chat/completions': 'chat',
    '/responses': 'responses',
    '/messages': 'messages',
  };
  /** True if the upstream's dialect has the tool itself: then the gateway runs nothing. */
  const isRunThere = (model: ToolModel, path: Path) => path === `/${model.slice('m/'.length)}`;

  const CASES = SCENARIOS.flatMap((scenario) =>
    (scenario.paths ?? PATHS).map((path) => ({
      ...scenario,
      path,
    })),
  );

  it.each(CASES)('$title on $path', async ({ path, asked, called, nested = [], engine: found, shows }) => {
    for (const model of MODELS) {
      for (const stream of [false, true]) {
        tools.upstream.clear();
        engine.clear();
        if (found !== undefined) engine.answer(found());
        const [name, input] = called();
        tools.answers(model, {
          reasoning: 'A call.',
          tools: [{ name, arguments: JSON.stringify(input), id: 'call_a' }],
        });
        tools.answers('m/chat', ...nested);
        tools.answers(model, { text: 'A.' });
        const said = { ...QUESTION[path], model, ...asked(), stream };
        const text = await (await tools.gateway.post(path, said)).text();
        const where = `${model}, ${stream ? 'stream' : 'body'}`;
        const kind = shows?.[path];
        if (kind !== undefined && !isRunThere(model, path)) expect(text, where).toContain(`"type":"${kind}"`);
        const bodies = bodiesIn(text);
        expect(bodies.at(-1), where).not.toHaveProperty('error.code');
        expect(problemsOf(FORMAT_AT[path], bodies), `${where}: ${text}`).toEqual([]);
      }
    }
  });
});

it('nulls in embeddings', async () => {
  const gateway = await openTestGateway();
  const response = await gateway.post('/embeddings', { model: 'simulator/embedding', input: ['a'] });
  const text = await response.text();
  await gateway.close();
  expect(response.status, text).toBe(200);
  expect(problemsOf('embeddings', bodiesIn(text))).toEqual([]);
});
