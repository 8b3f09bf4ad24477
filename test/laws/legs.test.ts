import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runs } from '../kit/builders/runs.ts';
import { chatAnswer, chatFrames, messagesAnswer, responsesAnswer, sse } from '../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  head,
  JSON_TYPE,
  never,
  openFakeUpstream,
  reset,
  type Script,
  SSE,
  stall,
  write,
} from '../kit/fakes/fake-upstream.ts';
import {
  answeringStage,
  carelessStage,
  chargingStage,
  loopStage,
  panelStage,
  racingStage,
} from '../kit/fakes/leg-stages.ts';
import { openTestGateway, readEvents, type TestGateway } from '../kit/gateway-harness.ts';
import { postgresForTests } from '../kit/servers/postgres-server.ts';

const server = await postgresForTests();

const FORMATS = {
  chat: { dialect: 'openai-chat', path: '/chat/completions', answer: chatAnswer },
  responses: { dialect: 'openai-responses', path: '/responses', answer: responsesAnswer },
  messages: { dialect: 'anthropic-messages', path: '/messages', answer: messagesAnswer },
};
type Name = keyof typeof FORMATS;
const NAMES = Object.keys(FORMATS) as Name[];

const PROMPT_PRICE = 0.000001;
const OUTPUT_PRICE = 0.000002;
const pricing = { prompt: '0.000001', completion: '0.000002' };
const size = { context_length: 100_000, max_output_tokens: 1000 };

const configFor = (upstream: FakeUpstream, checkpointMs = 20) =>
  ({
    providers: Object.entries(FORMATS).map(([slug, { dialect }]) => ({
      slug,
      name: slug,
      dialect,
      base_url: upstream.url,
    })),
    models: [
      ...NAMES.map((slug) => ({
        id: `m/${slug}`,
        ...size,
        endpoints: [{ provider: slug, model: 'one', ...size, pricing }],
      })),
      {
        id: 'm/many',
        ...size,
        endpoints: NAMES.map((slug) => ({ provider: slug, model: 'one', ...size, pricing })),
      },
    ],
    routing: { cooldown: { failures: 1000 }, attempts_per_request: 4 },
    durability: { checkpoint_ms: checkpointMs },
  }) as never;

const STAGES = [loopStage, panelStage, racingStage, answeringStage, carelessStage, chargingStage];

interface Asking {
  readonly format: Name;
  readonly dialect: Name;
  readonly user?: string;
  readonly stream?: boolean;
}

function bodyFor({ format, dialect, user, stream = false }: Asking) {
  const common = { model: `m/${dialect}`, stream };
  const limit = format === 'responses' ? { max_output_tokens: 99 } : { max_tokens: 99 };
  const asked =
    format === 'responses' ? { input: 'x', store: false } : { messages: [{ role: 'user', content: 'x' }] };
  const who = format === 'messages' ? { metadata: { user_id: user } } : { user };
  const usage = format === 'chat' && stream ? { stream_options: { include_usage: true } } : {};
  return { ...common, ...limit, ...asked, ...usage, ...(user !== undefined && who) };
}

const manage = (gateway: TestGateway, path: string, body: object) =>
  gateway.fetch(path, {
    method: 'POST',
    key: gateway.managementKey,
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  });

async function newKey(gateway: TestGateway, limit?: number) {
  const response = await manage(gateway, '/keys', { name: 'k', ...(limit !== undefined && { limit }) });
  return ((await response.json()) as { key: string; data: { hash: string } }).key;
}

async function ask(gateway: TestGateway, asking: Asking, key = gateway.apiKey) {
  const response = await gateway.post(FORMATS[asking.format].path, bodyFor(asking), {
    authorization: `Bearer ${key}`,
    'x-signalbox-experimental-metadata': 'enabled',
  });
  return {
    status: response.status,
    id: response.headers.get('x-generation-id'),
    text: await response.text(),
  };
}

async function recordOf(gateway: TestGateway, id: string | null): Promise<any> {
  let shown: any;
  await expect
    .poll(async () => {
      shown = ((await (await gateway.fetch(`/generation?id=${id}`)).json()) as any).data;
      return shown !== undefined;
    })
    .toBe(true);
  return shown;
}

const spentBy = async (gateway: TestGateway, key: string) =>
  ((await (await gateway.fetch('/key', { key })).json()) as any).data.usage as number;

/** What one leg of these tests says and uses. */
const legs = fc.array(
  fc.record({
    text: fc.constantFrom('one', 'two words', 'ü'),
    input: fc.nat(5000),
    output: fc.integer({ min: 1, max: 90 }),
  }),
  { minLength: 1, maxLength: 6 },
);

const priceOf = (used: readonly { input: number; output: number }[]) =>
  used.reduce((sum, { input, output }) => sum + input * PROMPT_PRICE + output * OUTPUT_PRICE, 0);

describe.each([
  ['embedded', async () => ({})],
  ...(server === undefined
    ? []
    : [['PostgreSQL', async () => ({ DATABASE_URL: await server.createDatabase() })] as const]),
] as const)('legs (%s)', (engine, env) => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;

  beforeAll(async () => {
    upstream = await openFakeUpstream();
    gateway = await openTestGateway(configFor(upstream), { stages: STAGES, env: await env() });
  });
  beforeEach(() => upstream.clear());
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });

  it('law: N legs bill and count as N requests with the same answers', async () => {
    await fc.assert(
      fc.asyncProperty(
        legs,
        fc.constantFrom(...NAMES),
        fc.constantFrom(...NAMES),
        fc.boolean(),
        async (said, format, dialect, stream) => {
          const { answer } = FORMATS[dialect];
          const play = () => {
            upstream.clear();
            for (const { text, input, output } of said)
              upstream.answer(answer({ text, usage: { input, output } }));
          };
          const [alone, joined] = [await newKey(gateway), await newKey(gateway)];
          play();
          for (const _ of said) await ask(gateway, { format, dialect, stream }, alone);
          play();
          const { id, status } = await ask(
            gateway,
            { format, dialect, stream, user: `legs-${said.length}` },
            joined,
          );
          expect(status).toBe(200);
          expect(upstream.requests).toHaveLength(said.length);
          const record = await recordOf(gateway, id);
          expect(await spentBy(gateway, joined)).toBeCloseTo(await spentBy(gateway, alone), 12);
          expect(record.total_cost).toBeCloseTo(priceOf(said), 12);
          expect(record.tokens_prompt).toBe(said.reduce((sum, { input }) => sum + input, 0));
          expect(record.tokens_completion).toBe(said.reduce((sum, { output }) => sum + output, 0));
          expect(record.usage_source).toBe('measured');
          expect(record.routing.attempt).toBe(said.length);
          expect(record.legs).toEqual(
            said.map(({ input, output }) => ({
              started_at: expect.any(String),
              duration_ms: expect.any(Number),
              kind: 'main',
              model: `m/${dialect}`,
              provider_name: dialect,
              tokens_prompt: input,
              tokens_completion: output,
              cost: expect.closeTo(input * PROMPT_PRICE + output * OUTPUT_PRICE, 12),
              status: 'completed',
            })),
          );
        },
      ),
      { numRuns: engine === 'embedded' ? runs(4, 60) : runs(2, 24) },
    );
  });

  it.each(NAMES.flatMap((format) => NAMES.map((dialect) => [format, dialect] as const)))(
    'are one stream: %s to %s',
    async (format, dialect) => {
      const { answer } = FORMATS[dialect];
      const said = [
        { text: 'ξ', reasoning: 'thought', usage: { input: 10, output: 1 } },
        { text: 'ψ', usage: { input: 20, output: 2 } },
        { text: 'ω', usage: { input: 30, output: 3 } },
      ];
      for (const one of said) upstream.answer(answer(one));
      const response = await gateway.post(
        FORMATS[format].path,
        bodyFor({ format, dialect, stream: true, user: 'legs-3' }),
      );
      const events = (await readEvents(response))
        .map(({ data }) => data)
        .filter((data) => typeof data === 'object');
      const text = JSON.stringify(events);
      for (const { text: word } of said) expect(text).toContain(word);
      checkStream[format](events);
    },
  );

  it.each([
    ['fails at once', [head(500, JSON_TYPE), write('{"error":{"message":"no"}}'), end()]],
    ['breaks off', [head(200, SSE), write(sse(chatFrames({ text: 'half of it' }).slice(0, 2))), reset()]],
  ] as const)('law: legs before one that %s are charged, exactly and only they', async (_, script) => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.boolean(), async (whole, stream) => {
        upstream.clear();
        const used = Array.from({ length: whole }, (_each, index) => ({
          input: 100 * (index + 1),
          output: 7,
        }));
        for (const usage of used) upstream.answer(chatAnswer({ text: 'Ψ', usage }));
        upstream.answer(script as Script);
        const key = await newKey(gateway);
        for (const format of NAMES) {
          const before = await spentBy(gateway, key);
          upstream.clear();
          for (const usage of used) upstream.answer(chatAnswer({ text: 'Ψ', usage }));
          upstream.answer(script as Script);
          const asking = { format, dialect: 'chat', stream, user: `legs-${whole + 1}` } as const;
          const { status, id, text } = await ask(gateway, asking, key);
          const isTold = stream || format === 'responses';
          expect(status === 200).toBe(isTold);
          if (isTold) expect(text).toContain('Ψ');
          const record = await recordOf(gateway, id);
          expect(record).toMatchObject({
            finish_reason: 'error',
            total_cost: expect.closeTo(priceOf(used), 12),
          });
          expect(record.legs.map(({ status: ended }: any) => ended)).toEqual([
            ...used.map(() => 'completed'),
            'failed',
          ]);
          expect((await spentBy(gateway, key)) - before).toBeCloseTo(priceOf(used), 12);
        }
      }),
      { numRuns: engine === 'embedded' ? runs(2, 12) : runs(1, 6) },
    );
  });

  it('law: when the caller leaves, ended legs are charged exactly, the open one by its text so far', async () => {
    const used = [
      { input: 100, output: 7 },
      { input: 200, output: 8 },
    ];
    for (const usage of used) upstream.answer(chatAnswer({ text: 'Ψ', usage }));
    upstream.answer([head(200, SSE), write(sse(chatFrames({ text: 'half of it' }).slice(0, 2))), never()]);
    const leaving = new AbortController();
    const response = await gateway.fetch('/chat/completions', {
      method: 'POST',
      signal: leaving.signal,
      body: JSON.stringify(bodyFor({ format: 'chat', dialect: 'chat', stream: true, user: 'legs-4' })),
      headers: { 'content-type': 'application/json' },
    });
    const third = await upstream.request(2);
    const reader = response.body?.getReader();
    for (let text = ''; !text.includes('half'); ) {
      text += Buffer.from((await reader?.read())?.value ?? []).toString();
    }
    leaving.abort();
    await third.closed;
    const record = await recordOf(gateway, response.headers.get('x-generation-id'));
    expect(record).toMatchObject({ cancelled: true, usage_source: 'estimated' });
    expect(record.legs.map(({ status }: any) => status)).toEqual(['completed', 'completed', 'cancelled']);
    expect(record.legs[0].cost + record.legs[1].cost).toBeCloseTo(priceOf(used), 12);
    expect(record.legs[2].cost).toBeGreaterThan(0);
    const sum = record.legs.reduce((all: number, { cost }: any) => all + cost, 0);
    expect(record.total_cost).toBeCloseTo(sum, 12);
    expect(upstream.requests).toHaveLength(3);
  });

  it('law: no interleaving of many generations with 1 to 6 legs passes a limit', async () => {
    const count = runs(100, 600);
    const limit = (0.05 * count) / 600;
    let billed = 0;
    upstream.answer(({ json }) => {
      const usage = { input: json.messages.length, output: Math.min(50, json.max_tokens) };
      billed += priceOf([usage]);
      return [
        // Long enough for the legs of others to come in between.
        stall(30),
        head(200, JSON_TYPE),
        write(
          JSON.stringify({
            id: 'c',
            object: 'chat.completion',
            created: 1,
            model: 'one',
            choices: [{ index: 0, message: { role: 'assistant', content: 'said' }, finish_reason: 'stop' }],
            usage: {
              prompt_tokens: usage.input,
              completion_tokens: usage.output,
              total_tokens: usage.input + usage.output,
            },
          }),
        ),
        end(),
      ];
    });
    const key = await newKey(gateway, limit);
    const outcomes = await Promise.all(
      Array.from({ length: count }, (_, index) =>
        ask(gateway, { format: 'chat', dialect: 'chat', user: `legs-${1 + (index % 6)}` }, key),
      ),
    );
    const statuses = new Set(outcomes.map(({ status }) => status));
    // 503: a database on a busy machine may not answer in time.
    for (const status of statuses) expect([200, 402, 503]).toContain(status);
    expect(billed).toBeLessThanOrEqual(limit);
    expect(billed).toBeGreaterThan(limit * 0.8);
    expect(await spentBy(gateway, key)).toBeCloseTo(billed, 9);
    const ended = outcomes.filter(({ text }) => text.includes('"finish_reason":"length"'));
    expect(ended.length).toBeGreaterThan(0);
    expect(ended[0]?.text).toContain('does not pay for the next model call');
  });

  it.each([
    ['chat', 'length'],
    ['messages', 'pause_turn'],
    ['responses', 'max_output_tokens'],
  ] as const)('beyond a limit end a %s answer with %s', async (format, word) => {
    // An upstream that keeps to the output limit of each leg.
    upstream.answer((request) => {
      const { max_tokens = 90, max_completion_tokens = max_tokens } = request.json;
      const output = Math.min(90, max_completion_tokens);
      const script = chatAnswer({ text: 'Ψ', usage: { input: 100, output } });
      return typeof script === 'function' ? script(request) : script;
    });
    const key = await newKey(gateway, 0.0006);
    const { status, text, id } = await ask(gateway, { format, dialect: 'chat', user: 'legs-6' }, key);
    expect(status).toBe(200);
    expect(text).toContain(word);
    expect(text).toContain('Ψ');
    const record = await recordOf(gateway, id);
    expect(record.legs.length).toBeGreaterThan(0);
    expect(record.legs.length).toBeLessThan(6);
    expect(record.total_cost).toBeLessThanOrEqual(0.0006);
    expect(record.written_off).toBe(0);
    expect(record.routing.pipeline).toMatchObject([{ name: 'budget', data: { scope: 'key' } }]);
  });

  it('at the same time are charged separately, and one that fails is named', async () => {
    upstream.answer(chatAnswer({ text: 'one', usage: { input: 10, output: 1 } }));
    upstream.answer([head(400, JSON_TYPE), write('{"error":{"message":"no"}}'), end()]);
    upstream.answer(chatAnswer({ text: 'three', usage: { input: 30, output: 3 } }));
    upstream.answer(chatAnswer({ text: 'all', usage: { input: 40, output: 4 } }));
    const { status, id, text } = await ask(gateway, { format: 'chat', dialect: 'chat', user: 'panel-3' });
    expect(status).toBe(200);
    expect(text).toContain('all');
    const record = await recordOf(gateway, id);
    expect(record.legs.map(({ kind }: any) => kind)).toEqual(['panel', 'panel', 'panel', 'main']);
    expect(record.legs.map(({ status: ended }: any) => ended).sort()).toEqual([
      'completed',
      'completed',
      'completed',
      'failed',
    ]);
    expect(record.total_cost).toBeCloseTo(priceOf([{ input: 80, output: 8 }]), 12);
  });

  it('abandoned by a stage end with the answer, at the upstream too', async () => {
    upstream.answer(chatAnswer({ text: 'Ψ', usage: { input: 10, output: 1 } }));
    upstream.answer([head(200, SSE), write(sse(chatFrames({ text: 'half of it' }).slice(0, 2))), never()]);
    const { status, id, text } = await ask(gateway, {
      format: 'chat',
      dialect: 'chat',
      stream: true,
      user: 'race-2',
    });
    expect(status).toBe(200);
    expect(text).toContain('Ψ');
    await (await upstream.request(1)).closed;
    const record = await recordOf(gateway, id);
    expect(record).toMatchObject({ finish_reason: 'stop', cancelled: false, usage_source: 'estimated' });
    expect(record.legs).toMatchObject([
      { kind: 'main', status: 'completed' },
      { kind: 'panel', status: 'cancelled' },
    ]);
    expect(record.legs[1].cost).toBeGreaterThan(0);
    expect(record.total_cost).toBeCloseTo(record.legs[0].cost + record.legs[1].cost, 12);
  });

  it.each([
    ['has no end', 'nothing', 'without a terminal event'],
    ['fails by a bug of its stage', 'bug', 'Internal Server Error'],
  ])('whose answer %s are charged, and it is a failure', async (_, what, message) => {
    for (const stream of [false, true]) {
      upstream.clear();
      upstream.answer(chatAnswer({ text: 'Ψ', usage: { input: 10, output: 1 } }));
      const asking = { format: 'chat', dialect: 'chat', stream, user: `after-${what}` } as const;
      const { status, text, id } = await ask(gateway, asking);
      expect(status).toBe(stream ? 200 : 500);
      if (stream || what === 'bug') expect(text).toContain(stream ? 'error' : message);
      expect(await recordOf(gateway, id)).toMatchObject({
        finish_reason: 'error',
        cancelled: false,
        total_cost: expect.closeTo(priceOf([{ input: 10, output: 1 }]), 12),
        legs: [{ kind: 'main', status: 'completed' }],
      });
    }
  });

  it.each(NAMES)('that cannot begin fail a %s answer, and those before are charged', async (format) => {
    for (const stream of [false, true]) {
      upstream.clear();
      upstream.answer(chatAnswer({ text: 'Ψ', usage: { input: 10, output: 1 } }));
      const { status, text, id } = await ask(gateway, {
        format,
        dialect: 'chat',
        stream,
        user: 'after-unknown',
      });
      const isTold = stream || format === 'responses';
      expect(status === 200).toBe(isTold);
      if (isTold) expect(text).toContain('Ψ');
      const record = await recordOf(gateway, id);
      expect(record.legs).toMatchObject([
        { status: 'completed' },
        { model: 'm/unknown', status: 'failed', cost: 0 },
      ]);
      expect(record.total_cost).toBeCloseTo(priceOf([{ input: 10, output: 1 }]), 12);
    }
  });

  it.each(['wait', 'hang'])(
    'are charged where the caller leaves between them, although the stage would %s',
    async (what) => {
      upstream.answer(chatAnswer({ text: 'Ψ', usage: { input: 10, output: 1 } }));
      const leaving = new AbortController();
      const response = await gateway.fetch('/chat/completions', {
        method: 'POST',
        signal: leaving.signal,
        body: JSON.stringify(
          bodyFor({ format: 'chat', dialect: 'chat', stream: true, user: `after-${what}` }),
        ),
        headers: { 'content-type': 'application/json' },
      });
      const reader = response.body?.getReader();
      for (let text = ''; !text.includes('Ψ'); ) {
        text += Buffer.from((await reader?.read())?.value ?? []).toString();
      }
      leaving.abort();
      expect(await recordOf(gateway, response.headers.get('x-generation-id'))).toMatchObject({
        cancelled: true,
        finish_reason: null,
        legs: [{ status: 'completed' }],
        total_cost: expect.closeTo(priceOf([{ input: 10, output: 1 }]), 12),
      });
      expect(upstream.requests).toHaveLength(1);
    },
  );

  it('that are pinned go where the one before went, and nowhere else', async () => {
    upstream.answer(chatAnswer({ text: 'Ψ', usage: { input: 10, output: 1 } }));
    const { status, id } = await ask(gateway, { format: 'chat', dialect: 'chat', user: 'after-pinned' });
    expect(status).toBe(200);
    const record = await recordOf(gateway, id);
    expect(record.legs).toMatchObject([{ provider_name: 'chat' }, { provider_name: 'chat' }]);
    expect(record.routing.endpoints.available).toMatchObject([{ provider: 'chat', selected: true }]);
  });

  it('at the same time make no more calls than the request may', async () => {
    upstream.answer([head(500, JSON_TYPE), write('{"error":{"message":"no"}}'), end()]);
    const { id } = await ask(gateway, { format: 'chat', dialect: 'many', user: 'panel-5' } as never);
    // Six legs with one call each, and three more of the four that a request may make.
    expect(upstream.requests.length).toBeGreaterThan(6);
    expect(upstream.requests.length).toBeLessThanOrEqual(9);
    expect((await recordOf(gateway, id)).routing.attempt).toBe(upstream.requests.length);
  });

  it('are empty if a stage runs none, and the answer is recorded', async () => {
    const { status, id, text } = await ask(gateway, { format: 'chat', dialect: 'chat', user: 'alone-1' });
    expect(status).toBe(200);
    expect(text).toContain('Ω');
    expect(upstream.requests).toHaveLength(0);
    expect(await recordOf(gateway, id)).toMatchObject({ total_cost: 0, legs: [], finish_reason: 'stop' });
  });

  it('come with charges, which stay if the request fails after them', async () => {
    upstream.answer(chatAnswer({ text: 'said', usage: { input: 10, output: 1 } }));
    const key = await newKey(gateway);
    const served = await ask(gateway, { format: 'chat', dialect: 'chat', user: 'charge-5000000' }, key);
    expect(await recordOf(gateway, served.id)).toMatchObject({
      total_cost: expect.closeTo(0.005 + priceOf([{ input: 10, output: 1 }]), 12),
      charges: [{ kind: 'web_search', cost: 0.005 }],
      legs: [{ kind: 'main', status: 'completed' }],
    });
    const refused = await ask(gateway, { format: 'chat', dialect: 'chat', user: 'refuse-5000000' }, key);
    expect(refused.status).toBe(403);
    expect(await recordOf(gateway, refused.id)).toMatchObject({
      total_cost: 0.005,
      finish_reason: 'error',
      legs: [],
      charges: [{ kind: 'web_search', cost: 0.005 }],
    });
    const poor = await newKey(gateway, 0.004);
    expect(
      (await ask(gateway, { format: 'chat', dialect: 'chat', user: 'charge-5000000' }, poor)).status,
    ).toBe(402);
    expect(await spentBy(gateway, poor)).toBe(0);
    // Enough for the search, too little for the model after it.
    const nearly = await newKey(gateway, 0.00500001);
    const unpaid = await ask(gateway, { format: 'chat', dialect: 'chat', user: 'charge-5000000' }, nearly);
    expect(unpaid.status).toBe(402);
    expect(await recordOf(gateway, unpaid.id)).toMatchObject({ total_cost: 0.005, finish_reason: 'error' });
    expect(await spentBy(gateway, nearly)).toBeCloseTo(0.005, 12);
  });

  if (engine === 'embedded') {
    it('law: an ended leg is recorded at once, not by the next checkpoint', async () => {
      const used = [
        { input: 100, output: 7 },
        { input: 200, output: 8 },
      ];
      for (const usage of used) upstream.answer(chatAnswer({ text: 'Ψ', usage }));
      upstream.answer([head(200, SSE), never()]);
      const slow = await openTestGateway(configFor(upstream, 60_000), { stages: STAGES });
      let restarted: TestGateway | undefined;
      const leaving = new AbortController();
      try {
        const response = await slow.fetch('/chat/completions', {
          method: 'POST',
          signal: leaving.signal,
          body: JSON.stringify(bodyFor({ format: 'chat', dialect: 'chat', stream: true, user: 'legs-3' })),
          headers: { 'content-type': 'application/json' },
        });
        await upstream.request(2);
        restarted = await openTestGateway(configFor(upstream), {
          stages: STAGES,
          prepare: async (dataDir) =>
            cpSync(slow.dataDir, dataDir, { recursive: true, filter: (path) => !/lock|sock/.test(path) }),
        });
        const record = await recordOf(restarted, response.headers.get('x-generation-id'));
        expect(record).toMatchObject({
          finish_reason: 'error',
          total_cost: expect.closeTo(priceOf(used), 12),
        });
        expect(record.legs.slice(0, 2)).toMatchObject([{ status: 'completed' }, { status: 'completed' }]);
      } finally {
        leaving.abort();
        await restarted?.close();
        await slow.close();
      }
    });

    it('law: killed in a leg, legs before it are charged exactly and it by its checkpoint', async () => {
      const used = [
        { input: 100, output: 7 },
        { input: 200, output: 8 },
        { input: 300, output: 9 },
      ];
      for (const usage of used) upstream.answer(chatAnswer({ text: 'Ψ', usage }));
      upstream.answer([head(200, SSE), write(sse(chatFrames({ text: 'half of it' }).slice(0, 2))), never()]);
      const leaving = new AbortController();
      const response = await gateway.fetch('/chat/completions', {
        method: 'POST',
        signal: leaving.signal,
        body: JSON.stringify(bodyFor({ format: 'chat', dialect: 'chat', stream: true, user: 'legs-5' })),
        headers: { 'content-type': 'application/json' },
      });
      const id = response.headers.get('x-generation-id');
      const reader = response.body?.getReader();
      for (let text = ''; !text.includes('half'); ) {
        text += Buffer.from((await reader?.read())?.value ?? []).toString();
      }
      // What is on the disk now is what a process leaves that is killed now: all records are written, none is closed.
      const copies = mkdtempSync(join(tmpdir(), 'signalbox-killed-'));
      let restarted: TestGateway | undefined;
      try {
        await expect
          .poll(
            async () => {
              const copy = mkdtempSync(join(copies, 'at-'));
              cpSync(gateway.dataDir, copy, { recursive: true, filter: (path) => !/lock|sock/.test(path) });
              await restarted?.close();
              restarted = await openTestGateway(configFor(upstream), {
                stages: STAGES,
                prepare: async (dataDir) => cpSync(copy, dataDir, { recursive: true }),
              });
              const record = await recordOf(restarted, id);
              return record.legs.map(({ status, cost }: any) => [status, cost > 0]);
            },
            { interval: 200 },
          )
          .toEqual([
            ['completed', true],
            ['completed', true],
            ['completed', true],
            ['failed', true],
          ]);
        const record = await recordOf(restarted as unknown as TestGateway, id);
        expect(record).toMatchObject({ finish_reason: 'error', usage_source: 'estimated' });
        const prefix = record.legs.slice(0, 3).reduce((sum: number, { cost }: any) => sum + cost, 0);
        expect(prefix).toBeCloseTo(priceOf(used), 12);
        expect(record.total_cost).toBeCloseTo(prefix + record.legs[3].cost, 12);
      } finally {
        leaving.abort();
        await restarted?.close();
        rmSync(copies, { recursive: true, force: true });
      }
    });
  }
});

const usageOf = { input: 60, output: 6 };

/** What has to hold of a stream in each format. */
const checkStream: Record<Name, (events: readonly any[]) => void> = {
  responses(events) {
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    const added = events.filter(({ type }) => type === 'response.output_item.added');
    expect(added.map(({ output_index }) => output_index)).toEqual(added.map((_, index) => index));
    const last = events.filter(({ type }) => /^response\.(completed|failed|incomplete)$/.test(type));
    expect(last).toHaveLength(1);
    expect(last[0].response.output).toHaveLength(added.length);
    expect(last[0].response.usage).toMatchObject({
      input_tokens: usageOf.input,
      output_tokens: usageOf.output,
      cost: expect.closeTo(priceOf([usageOf]), 12),
    });
  },
  messages(events) {
    const started = events.filter(({ type }) => type === 'content_block_start');
    expect(started.map(({ index }) => index)).toEqual(started.map((_, index) => index));
    for (const type of ['message_start', 'message_delta', 'message_stop']) {
      expect(events.filter((event) => event.type === type)).toHaveLength(1);
    }
    const delta = events.find(({ type }) => type === 'message_delta');
    expect(delta.usage).toMatchObject({ input_tokens: usageOf.input, output_tokens: usageOf.output });
  },
  chat(events) {
    const finished = events.filter(({ choices }) => typeof choices?.[0]?.finish_reason === 'string');
    expect(finished).toHaveLength(1);
    const used = events.filter(({ usage }) => usage !== undefined && usage !== null);
    expect(used).toHaveLength(1);
    expect(used[0].usage).toMatchObject({
      prompt_tokens: usageOf.input,
      completion_tokens: usageOf.output,
    });
  },
};
