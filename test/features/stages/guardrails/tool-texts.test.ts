import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/kit/json/json.ts';
import { chatAnswer } from '../../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream, reply, type Script } from '../../../kit/fakes/fake-upstream.ts';
import { type FakeMcpServer, openMcpServer, tool } from '../../../kit/fakes/mcp-server.ts';
import { searchingWith } from '../../tools/search-engine.ts';
import { FORMATS, WAYS } from '../plugins/formats.ts';
import {
  expectComplete,
  type GuardedGateway,
  openGuardedGateway,
  type Reply,
  receiptIn,
  stagesIn,
} from './guarded-gateway.ts';

let guarded: GuardedGateway;
let web: FakeUpstream;
let docs: FakeMcpServer;
let key: string;

beforeAll(async () => {
  [web, docs] = await Promise.all([openFakeUpstream(), openMcpServer()]);
  guarded = await openGuardedGateway({
    ...searchingWith(web),
    tools: { mcp_servers: { docs: { url: docs.url } } },
  });
  key = await guarded.guard({
    content_filter_builtins: [{ slug: 'email', action: 'redact' }],
    content_filters: [
      { pattern: 'forbidden', action: 'block', label: 'BAD' },
      { pattern: 'curious', action: 'flag', label: 'ODD' },
    ],
  });
});
beforeEach(() => {
  guarded.upstream.clear();
  web.clear();
  docs.messages.length = 0;
  docs.behaviour = { tools: LISTED };
});
afterAll(async () => {
  await guarded.close();
  await Promise.all([web.close(), docs.close()]);
});

const ADDRESS = 'ada@example.com';

const LISTED = () => ({ tools: [tool('search')], ttlMs: 0 });

const page = (text: string): Script =>
  reply(200, `<title>About ${text}</title><main><p>It says ${text}.</p></main>`, {
    'content-type': 'text/html',
  });

/** A server tool whose arguments and results have texts of others. */
interface ToolRow {
  /** The tool in requests. */
  readonly asked: JsonObject;
  /** The name by which models call it, and that by which MCP clients do. */
  readonly name: string;
  readonly offeredAs: string;
  /** Arguments with a text in them. */
  given(text: string): JsonObject;
  /** Has the next call return a text. */
  returns(text: string): void;
  /** What reached the other side. */
  reached(): string[];
}

const TOOLS: Readonly<Record<string, ToolRow>> = {
  web_search: {
    asked: { type: 'signalbox:web_search' },
    name: 'web_search',
    offeredAs: 'web_search',
    given: (text) => ({ query: `about ${text}` }),
    returns: (text) =>
      web.answer(
        reply(200, {
          results: [{ url: 'https://pages.test/a', title: `On ${text}`, content: `It says ${text}.` }],
        }),
      ),
    reached: () => web.requests.map(({ path }) => decodeURIComponent(path.replaceAll('+', ' '))),
  },
  web_fetch: {
    asked: { type: 'signalbox:web_fetch' },
    name: 'web_fetch',
    offeredAs: 'web_fetch',
    given: (text) => ({ url: `http://127.0.0.1:${web.port}/page?about=${text}` }),
    returns: (text) => web.answer(page(text)),
    reached: () => web.requests.map(({ path }) => decodeURIComponent(path)),
  },
  mcp: {
    asked: { type: 'mcp', server_label: 'docs', require_approval: 'never' },
    name: 'docs__search',
    offeredAs: 'docs__search',
    given: (text) => ({ text: `about ${text}` }),
    returns: (text) => {
      docs.behaviour = {
        tools: LISTED,
        call: () => ({ content: [{ type: 'text', text: `It says ${text}.` }] }),
      };
    },
    reached: () =>
      docs.messages.flatMap(({ method, params }) =>
        method === 'tools/call' ? [JSON.stringify(params)] : [],
      ),
  },
};
const ROWS = Object.entries(TOOLS);

/** What the upstream was sent, leg by leg. */
const legs = () => guarded.upstream.requests.map(({ body }) => body);

async function recordOf(answer: Reply, of = key) {
  const record = await guarded.recordOf(answer, of);
  expect(guarded.gateway.logged('a guardrail did not scan all of a generation')).toEqual([]);
  return record;
}

/** Actions of guardrails in a record, with their directions. */
const actionsIn = (record: any) =>
  stagesIn(record).flatMap(({ name, data }) =>
    name === 'content-filter' ? [[data.action, data.direction]] : [],
  );

/** Expects a refusal: before the answer has begun by its status, later in its stream or in its body. */
function expectBlocked(answer: Reply): void {
  expect(answer.text).toContain('blocked by content filter: BAD');
  expect(answer.text).not.toContain('Done.');
}

describe.each(ROWS)('%s', (_, row) => {
  describe.each(WAYS)('on %s, stream %s', (path, stream) => {
    const ask = (given: string, returned: string) => {
      row.returns(returned);
      const call = { name: row.name, arguments: JSON.stringify(row.given(given)), id: 'call_a' };
      guarded.upstream.answer(chatAnswer({ text: 'Let me see. ', tools: [call] }));
      guarded.upstream.answer(chatAnswer({ text: 'Done.' }));
      const body = { model: 'm/openai-chat', stream, tools: [row.asked], ...FORMATS[path].of('Look.') };
      return guarded.ask(key, path, body);
    };

    it('redacts its arguments and its result, and flags', async () => {
      const answer = await ask(`${ADDRESS} curious`, `${ADDRESS} curious`);
      expect(answer.status, answer.text).toBe(200);
      expect(answer.text).toContain('Done.');
      expect(row.reached()).toEqual([expect.stringContaining('[EMAIL] curious')]);
      expect(legs()).toHaveLength(2);
      expect(legs()[1]).toContain('It says [EMAIL] curious.');
      const record = await recordOf(answer);
      for (const place of [...row.reached(), ...legs(), answer.text, JSON.stringify(record)]) {
        expect(place).not.toContain('ada@');
      }
      expectComplete(receiptIn(record));
      expect(receiptIn(record).characters_received).toBeGreaterThan('Let me see. Done.'.length);
      for (const action of ['redacted', 'flagged']) {
        expect(actionsIn(record)).toContainEqual([action, 'received']);
        expect(actionsIn(record)).toContainEqual([action, 'sent']);
      }
    });

    it('does not run with arguments that are blocked', async () => {
      const answer = await ask('forbidden', 'nothing');
      expectBlocked(answer);
      expect(row.reached()).toEqual([]);
      expect(legs()).toHaveLength(1);
      expect((await recordOf(answer)).finish_reason).toBe('error');
    });

    it('ends the answer with a result that is blocked', async () => {
      const answer = await ask('this', 'forbidden');
      expectBlocked(answer);
      expect(answer.text).not.toContain('It says');
      expect(row.reached()).toHaveLength(1);
      expect(legs()).toHaveLength(1);
      const record = await recordOf(answer);
      expect(record.tool_calls).toMatchObject([{ outcome: 'ok' }]);
      expect(JSON.stringify(record)).not.toContain('It says');
    });
  });

  describe('through POST /mcp', () => {
    const call = async (given: string, returned: string) => {
      row.returns(returned);
      const params = { name: row.offeredAs, arguments: row.given(given) };
      return guarded.ask(key, '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    };

    it('is scanned as in a generation', async () => {
      const answer = await call(`${ADDRESS} curious`, `${ADDRESS} curious`);
      expect(answer.body.result.isError, answer.text).toBe(false);
      expect(answer.text).toContain('It says [EMAIL] curious.');
      expect(row.reached()).toEqual([expect.stringContaining('[EMAIL] curious')]);
      const record = await recordOf(answer);
      for (const place of [...row.reached(), answer.text, JSON.stringify(record)]) {
        expect(place).not.toContain('ada@');
      }
      expectComplete(receiptIn(record));
      expect(actionsIn(record)).toContainEqual(['redacted', 'sent']);
      expect(actionsIn(record)).toContainEqual(['flagged', 'sent']);
    });

    it('is blocked in both directions', async () => {
      const asked = await call('forbidden', 'nothing');
      expect(asked.body.error).toMatchObject({ code: -32_000, message: expect.stringContaining('BAD') });
      expect(row.reached()).toEqual([]);
      web.clear();
      const returned = await call('this', 'forbidden');
      expect(returned.body.error).toMatchObject({ code: -32_000, message: expect.stringContaining('BAD') });
      expect(returned.text).not.toContain('It says');
      expect(row.reached()).toHaveLength(1);
    });
  });
});

describe('the text of a failure', () => {
  const failing = (text: string) => {
    docs.behaviour = {
      tools: LISTED,
      call: () => ({ isError: true, content: [{ type: 'text', text }] }),
    };
  };

  it('of a tool is redacted in the answer, the next leg and the record', async () => {
    failing(`no page for ${ADDRESS}`);
    const call = { name: 'docs__search', arguments: '{"text":"x"}', id: 'call_a' };
    guarded.upstream.answer(chatAnswer({ tools: [call] }));
    guarded.upstream.answer(chatAnswer({ text: 'Done.' }));
    const body = { model: 'm/openai-chat', input: 'Look.', tools: [TOOLS.mcp?.asked] };
    const answer = await guarded.ask(key, '/responses', body);
    expect(answer.text).toContain('no page for [EMAIL]');
    const record = await recordOf(answer);
    expect(record.tool_calls).toMatchObject([{ outcome: 'error', error: 'no page for [EMAIL]' }]);
    for (const place of [...legs(), answer.text, JSON.stringify(record)]) expect(place).not.toContain('ada@');
  });
});

describe('tools of an MCP server', () => {
  it('have their descriptions scanned', async () => {
    docs.behaviour = {
      tools: () => ({ tools: [tool('search', { description: `Ask ${ADDRESS}.` })], ttlMs: 0 }),
    };
    guarded.upstream.answer(chatAnswer({ text: 'Done.' }));
    const answer = await guarded.ask(key, '/responses', {
      model: 'm/openai-chat',
      input: 'Look.',
      tools: [TOOLS.mcp?.asked],
    });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.output[0].tools[0].description).toBe('Ask [EMAIL].');
    expect(legs()[0]).toContain('Ask [EMAIL].');
    const record = await recordOf(answer);
    expectComplete(receiptIn(record));
    for (const place of [...legs(), answer.text, JSON.stringify(record)]) expect(place).not.toContain('ada@');
  });
});
