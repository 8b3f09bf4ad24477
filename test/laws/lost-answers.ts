import { cpSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  chatAnswer,
  chatFrames,
  messagesAnswer,
  messagesFrames,
  responsesAnswer,
  responsesFrames,
  sse,
} from '../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  head,
  JSON_TYPE,
  never,
  openFakeUpstream,
  reply,
  reset,
  type Script,
  SSE,
  type Step,
  stall,
  stepsOf,
  truncate,
  write,
} from '../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../kit/gateway-harness.ts';

/*
 * Whatever becomes of an answer, what its upstream may bill is charged, or written off with its cause: where the caller
 * leaves at any event, where a time limit passes, where an answer is dropped for another endpoint or breaks off, and
 * where the gateway itself ends it.
 */

const FORMATS = {
  chat: { dialect: 'openai-chat', path: '/chat/completions', frames: chatFrames, answer: chatAnswer },
  responses: {
    dialect: 'openai-responses',
    path: '/responses',
    frames: responsesFrames,
    answer: responsesAnswer,
  },
  messages: {
    dialect: 'anthropic-messages',
    path: '/messages',
    frames: messagesFrames,
    answer: messagesAnswer,
  },
};
type Name = keyof typeof FORMATS;
const NAMES = Object.keys(FORMATS) as Name[];

const PROMPT_PRICE = 0.000001;
const OUTPUT_PRICE = 0.00001;
const pricing = { prompt: '0.000001', completion: '0.00001' };
const size = { context_length: 100_000, max_output_tokens: 5000 };
const TEXT = 'All that the caller sees of it';
const BEGINNING = 'All that';

/** What the upstream makes and bills of each answer: most of the output is thought that it does not show. */
const USED = { input: 20, output: 3000 };
const BILL = USED.input * PROMPT_PRICE + USED.output * OUTPUT_PRICE;
const CLOSE = 1e-9;

let upstream: FakeUpstream;
let gateway: TestGateway;
let config: Parameters<typeof openTestGateway>[0];

const endpointsOf = (slug: string) => [{ provider: slug, model: 'one', ...size, pricing }];

const bodyFor = (format: Name, model: string, more: object = {}, prompt = 'x') => ({
  model,
  ...(format === 'responses'
    ? { input: prompt, store: false }
    : { messages: [{ role: 'user', content: prompt }] }),
  ...(format === 'messages' && { max_tokens: 5000 }),
  ...more,
});

async function newKey(limit?: number): Promise<string> {
  const response = await gateway.fetch('/keys', {
    method: 'POST',
    key: gateway.managementKey,
    body: JSON.stringify({ name: 'k', ...(limit !== undefined && { limit }) }),
    headers: { 'content-type': 'application/json' },
  });
  return ((await response.json()) as { key: string }).key;
}

/** The lines of the log on generations that have ended, failed ones too. */
const linesWith = (requestId: string) =>
  ['generation', 'generation failed']
    .flatMap((message) => gateway.logged(message))
    .filter((line) => line.request_id === requestId);

/** The frames of a stream without what they report of usage. */
const withoutUsage = (frames: string): string => frames.replaceAll('"usage":', '"other":');

let asked = 0;

/** Calls `left` when the caller is to leave. `seen`: what came of the answer so far. */
type Leave = (left: () => void, seen: () => string) => Promise<void>;

/** Asks, and resolves with the record. */
async function ask(
  format: Name,
  model: string,
  {
    key,
    more,
    prompt,
    leave,
  }: {
    key?: string | undefined;
    more?: object;
    prompt?: string;
    leave?: Leave;
  } = {},
): Promise<any> {
  const requestId = `asked-${asked++}`;
  const leaving = new AbortController();
  let text = '';
  const read = gateway
    .fetch(FORMATS[format].path, {
      method: 'POST',
      signal: leaving.signal,
      body: JSON.stringify(bodyFor(format, model, more, prompt)),
      headers: { 'content-type': 'application/json', 'x-request-id': requestId },
      ...(key !== undefined && { key }),
    })
    .then(async ({ body }) => {
      for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) text += chunk;
    })
    .catch(() => {});
  if (leave !== undefined) {
    await leave(
      () => leaving.abort(),
      () => text,
    );
  }
  await read;
  const lineOf = () => linesWith(requestId)[0];
  await expect.poll(lineOf).toBeDefined();
  const shown = (await (await gateway.fetch(`/generation?id=${lineOf()?.id}`)).json()) as any;
  return { ...shown.data, text };
}

const causesOf = ({ write_offs = [] }: any): string[] => write_offs.map(({ cause }: any) => cause);

const accounted = ({ total_cost, written_off }: any): number => total_cost + written_off;

/** What is charged and written off of answers that callers or the gateway lose, of one dialect. */
export function lostAnswersLaw(name: Name): void {
  describe(`${name}: what a lost answer costs`, () => {
    beforeAll(async () => {
      upstream = await openFakeUpstream();
      const providers = NAMES.flatMap((name) => {
        const provider = { name, dialect: FORMATS[name].dialect, base_url: upstream.url };
        const hurried = { first_byte: 200, idle: 300 };
        return [
          { slug: name, ...provider },
          { slug: `brought-${name}`, ...provider },
          { slug: `hurried-${name}`, ...provider, timeouts_ms: hurried },
          { slug: `second-${name}`, ...provider, timeouts_ms: hurried },
          { slug: `third-${name}`, ...provider, timeouts_ms: hurried },
          // Each with one short limit: a busy machine may pass another one before the answer begins.
          { slug: `idle-${name}`, ...provider, timeouts_ms: { idle: 1_000 } },
          { slug: `total-${name}`, ...provider, timeouts_ms: { total: 1_500 } },
        ];
      });
      config = {
        providers,
        models: [
          ...NAMES.flatMap((name) => [
            { id: `m/${name}`, ...size, endpoints: endpointsOf(name) },
            { id: `m/thinks-${name}`, ...size, reasoning: { mandatory: true }, endpoints: endpointsOf(name) },
            {
              id: `m/brought-${name}`,
              ...size,
              reasoning: { mandatory: true },
              endpoints: endpointsOf(`brought-${name}`),
            },
            {
              id: `m/may-think-${name}`,
              ...size,
              reasoning: { mandatory: false, default_enabled: true },
              endpoints: endpointsOf(name),
            },
            ...[1, 2, 3].map((nth) => ({ id: `m/${nth}-${name}`, ...size, endpoints: endpointsOf(name) })),
            {
              id: `m/hurried-${name}`,
              ...size,
              endpoints: ['hurried', 'second', 'third'].flatMap((slug) => endpointsOf(`${slug}-${name}`)),
            },
            ...['idle', 'total'].map((slug) => ({
              id: `m/${slug}-${name}`,
              ...size,
              endpoints: endpointsOf(`${slug}-${name}`),
            })),
            { id: `m/then-slow-${name}`, ...size, endpoints: [`hurried-${name}`, name].flatMap(endpointsOf) },
          ]),
        ],
        server: { request_deadline_ms: 20_000 },
      } as never;
      gateway = await openTestGateway(config);
    });
    beforeEach(() => upstream.clear());
    afterAll(async () => {
      await gateway.close();
      await upstream.close();
    });
    const { frames: framesOf, answer } = FORMATS[name];
    const frames = framesOf({ text: TEXT, usage: USED }).map((frame) => sse([frame]));
    /** Frames after which content has begun. */
    const begun = framesOf({ text: TEXT, usage: USED }).findIndex((frame) =>
      JSON.stringify(frame).includes(BEGINNING),
    );

    /** Sends the first frames, then the rest as soon as the caller has left. Each place in the stream by itself. */
    const cutAt = (
      counts: readonly number[],
      rest: (count: number, gate: Promise<void>) => readonly Step[],
    ) => {
      const gates = new Map<number, () => void>();
      upstream.clear();
      upstream.answer(({ body }) => {
        const count = Number(/place-(\d+)/.exec(body)?.[1]);
        const gate = new Promise<void>((resolve) => gates.set(count, resolve));
        return [head(200, SSE), write(frames.slice(0, count).join('')), ...rest(count, gate)];
      });
      return (options: { model?: string; key?: string | undefined } = {}) =>
        Promise.all(
          counts.map(async (count) => {
            const leave: Leave = async (left, seen) => {
              await expect.poll(() => gates.has(count), { interval: 5 }).toBe(true);
              // Until the gateway has passed on what has come: frames before the content show nothing.
              if (count > begun) await expect.poll(seen, { interval: 5 }).toContain(BEGINNING);
              else await sleep(150);
              left();
              setTimeout(() => gates.get(count)?.(), 100);
            };
            const { model = `m/${name}`, key } = options;
            const prompt = `place-${count}`;
            return [count, await ask(name, model, { key, prompt, more: { stream: true }, leave })] as const;
          }),
        );
    };
    const places = Array.from({ length: frames.length + 1 }, (_, count) => count);

    it.each([undefined, 2])(
      'is what the upstream reports soon after the caller left (limit %s)',
      async (limit) => {
        const leave = cutAt(places, (count, gate) => [
          () => gate,
          write(frames.slice(count).join('')),
          end(),
        ]);
        for (const [count, record] of await leave({ key: await newKey(limit) })) {
          expect(accounted(record), `after ${count}`).toBeGreaterThanOrEqual(BILL - CLOSE);
          expect(record.total_cost, `after ${count}`).toBeLessThanOrEqual(BILL + CLOSE);
          // Without content the upstream is not read on: it may stop and bill nothing.
          if (count <= begun) continue;
          expect(record, `after ${count}`).toMatchObject({
            total_cost: expect.closeTo(BILL, 9),
            written_off: 0,
            usage_source: 'measured',
          });
        }
      },
    );

    it.each([undefined, 2])('is covered if the upstream never reports it (limit %s)', async (limit) => {
      const leave = cutAt(places.slice(0, -2), () => [never()]);
      for (const [count, record] of await leave({ key: await newKey(limit) })) {
        expect(accounted(record), `after ${count}`).toBeGreaterThanOrEqual(BILL - CLOSE);
        if (record.usage_source === 'measured' && record.total_cost > 0) continue;
        expect(record.total_cost, `after ${count}`).toBeLessThan(0.001);
        expect(causesOf(record)).toEqual(['abandoned']);
      }
    });

    it('stops an upstream that writes on, and charges what it wrote', async () => {
      const [piece = ''] = frames.slice(begun, begun + 1);
      const writing = Array.from({ length: 200 }, () => [stall(20), write(piece)]).flat();
      const [[, record] = []] = await cutAt([begun + 1], () => writing)();
      const request = await upstream.request(0);
      await request.closed;
      expect(request.writtenBytes).toBeLessThan(frames.join('').length + 100 * piece.length);
      expect(record).toMatchObject({ cancelled: true, usage_source: 'estimated' });
      expect(record.total_cost).toBeGreaterThan(0);
      expect(record.total_cost).toBeLessThan(BILL / 2);
      expect(causesOf(record)).toEqual(['abandoned']);
    });

    it('has the thoughts that earlier answers of the model had', async () => {
      const model = `m/thinks-${name}`;
      const leaveEarly = async (of = model) => {
        const [[, record] = []] = await cutAt([begun + 2], () => [never()])({ model: of });
        return record;
      };
      const unknown = await leaveEarly();
      upstream.clear();
      upstream.answer(answer({ text: TEXT, usage: USED }));
      for (let nth = 0; nth < 3; nth++) await ask(name, model);
      const learnt = await leaveEarly();
      expect(learnt.tokens_completion).toBeGreaterThan(unknown.tokens_completion * 50);
      expect(learnt.total_cost).toBeLessThanOrEqual(5000 * OUTPUT_PRICE + 0.001);
      expect(accounted(learnt)).toBeGreaterThanOrEqual(BILL - CLOSE);
      upstream.clear();
      upstream.answer(answer({ text: TEXT, usage: USED }));
      for (let nth = 0; nth < 3; nth++) await ask(name, `m/${name}`);
      const plain = await leaveEarly(`m/${name}`);
      expect(plain.tokens_completion).toBe(unknown.tokens_completion);
    });

    it('has those thoughts whatever budget the request names beside an effort', async () => {
      const model = `m/thinks-${name}`;
      const more =
        name === 'messages'
          ? { thinking: { type: 'enabled', budget_tokens: 1024 }, output_config: { effort: 'high' } }
          : { reasoning: { effort: 'high', max_tokens: 1 } };
      upstream.answer(answer({ text: TEXT, usage: USED }));
      for (let nth = 0; nth < 3; nth++) await ask(name, model, { more });
      upstream.clear();
      upstream.answer([head(200, SSE), write(frames.slice(0, begun + 2).join('')), never()]);
      const { tokens_completion } = await ask(name, model, {
        more: { stream: true, ...more },
        leave: async (left, seen) => {
          await expect.poll(seen).toContain(BEGINNING);
          left();
        },
      });
      expect(tokens_completion).toBeGreaterThan(USED.output / 2);
    });

    it('has no thoughts that only the credential of an account has reported', async () => {
      const model = `m/brought-${name}`;
      const byok = (method: string, path: string, body?: object) =>
        gateway.fetch(path, {
          method,
          key: gateway.managementKey,
          headers: { 'content-type': 'application/json' },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
      const brought = { provider: `brought-${name}`, key: 'own-key-of-the-caller' };
      const { data: own } = (await (await byok('POST', '/byok', brought)).json()) as any;
      upstream.answer(answer({ text: TEXT, usage: USED }));
      for (let nth = 0; nth < 3; nth++) expect((await ask(name, model)).is_byok).toBe(true);
      await byok('DELETE', `/byok/${own.id}`);
      const [[, record] = []] = await cutAt([begun + 2], () => [never()])({ model });
      expect(record).toMatchObject({ is_byok: false, cancelled: true });
      expect(record.tokens_completion).toBeLessThan(USED.output / 10);
    });

    it('has those thoughts too where it ends without a report', async () => {
      const model = `m/thinks-${name}`;
      upstream.answer(answer({ text: TEXT, usage: USED }));
      for (let nth = 0; nth < 3; nth++) await ask(name, model);
      upstream.clear();
      upstream.answer([head(200, SSE), write(withoutUsage(frames.join(''))), end()]);
      const { tokens_completion, usage_source } = await ask(name, model, { more: { stream: true } });
      expect(usage_source).toBe('estimated');
      expect(tokens_completion).toBeGreaterThan(USED.output / 2);
      expect(tokens_completion).toBeLessThan(USED.output * 2);
    });

    it('has thoughts once, however much was written, and none if the request wants none', async () => {
      const model = `m/may-think-${name}`;
      upstream.answer(answer({ text: TEXT, usage: USED }));
      for (let nth = 0; nth < 3; nth++) await ask(name, model);
      const [piece = ''] = frames.slice(begun, begun + 1);
      const writing = Array.from({ length: 100 }, () => [stall(10), write(piece)]).flat();
      const leaveLate = async (more: object = {}) => {
        upstream.clear();
        upstream.answer([head(200, SSE), write(frames.slice(0, begun + 1).join('')), ...writing]);
        return await ask(name, model, {
          more: { stream: true, ...more },
          leave: async (left, seen) => {
            await expect.poll(() => seen().split(BEGINNING).length).toBeGreaterThan(20);
            left();
          },
        });
      };
      const { tokens_completion: withThoughts } = await leaveLate();
      expect(withThoughts).toBeGreaterThan(USED.output);
      expect(withThoughts).toBeLessThan(USED.output + 1000);
      const off =
        name === 'messages' ? { thinking: { type: 'disabled' } } : { reasoning: { enabled: false } };
      const { tokens_completion: without } = await leaveLate(off);
      expect(without).toBeLessThan(1000);
    });

    it.each([
      ['does not begin', 'hurried', () => [head(200, SSE), never()], 2],
      [
        'falls silent',
        'idle',
        () => [head(200, SSE), write(frames.slice(0, begun + 2).join('')), never()],
        1,
      ],
      [
        'takes too long',
        'total',
        () => [
          head(200, SSE),
          write(frames.slice(0, begun + 2).join('')),
          ...Array.from({ length: 20 }, () => [stall(100), write(frames[begun + 1] ?? '')]).flat(),
        ],
        1,
      ],
    ])('is written off where a stream %s in time', async (_, model, script, calls) => {
      upstream.answer(script());
      const record = await ask(name, `m/${model}-${name}`, { more: { stream: true } });
      expect(upstream.requests).toHaveLength(calls);
      expect(causesOf(record)).toEqual(['time_limit']);
      expect(accounted(record)).toBeGreaterThanOrEqual(calls * BILL - CLOSE);
    });

    it('is not asked for again where fallbacks are forbidden', async () => {
      upstream.answer([head(200, SSE), never()]);
      const more = {
        stream: true,
        provider: { order: [`hurried-${name}`, `second-${name}`], allow_fallbacks: false },
      };
      const record = await ask(name, `m/hurried-${name}`, { more });
      expect(upstream.requests).toHaveLength(1);
      expect(accounted(record)).toBeGreaterThanOrEqual(BILL - CLOSE);
    });

    it('is written off with the next call if the process is killed in that', async () => {
      upstream.answer([head(200, SSE), never()]);
      const leaving = new AbortController();
      const more = { stream: true, provider: { order: [`hurried-${name}`, name] } };
      const asked = gateway
        .fetch(FORMATS[name].path, {
          method: 'POST',
          signal: leaving.signal,
          body: JSON.stringify(bodyFor(name, `m/then-slow-${name}`, more)),
          headers: { 'content-type': 'application/json', 'x-request-id': `killed-${name}` },
        })
        .catch(() => {});
      await upstream.request(1);
      // What is on the disk now is what a process leaves that is killed now.
      const isCopied = (path: string) => !/lock|sock/.test(path);
      const restarted = await openTestGateway(config, {
        prepare: async (dataDir) => cpSync(gateway.dataDir, dataDir, { recursive: true, filter: isCopied }),
      });
      try {
        const key = { key: gateway.managementKey };
        const idOf = async () => {
          const { data } = (await (await restarted.fetch('/generations?limit=100', key)).json()) as any;
          return data.find(({ request_id }: any) => request_id === `killed-${name}`)?.id;
        };
        await expect.poll(idOf).toBeDefined();
        const id = await idOf();
        const { data: record } = (await (await restarted.fetch(`/generation?id=${id}`, key)).json()) as any;
        expect(record).toMatchObject({ total_cost: 0, finish_reason: 'error', native_tokens_prompt: 0 });
        expect(causesOf(record)).toEqual(['time_limit', 'cut']);
        expect(record.written_off).toBeGreaterThanOrEqual(2 * BILL - CLOSE);
      } finally {
        leaving.abort();
        await asked;
        await restarted.close();
      }
    });

    it('is nothing but its price where a whole answer takes longer than a first byte may', async () => {
      upstream.answer((request) => [stall(450), ...stepsOf(answer({ text: TEXT, usage: USED }), request)]);
      const record = await ask(name, `m/hurried-${name}`);
      expect(upstream.requests).toHaveLength(1);
      expect(record).toMatchObject({ total_cost: expect.closeTo(BILL, 9), written_off: 0 });
    });

    it.each([
      ['breaks off before its content', [head(200, SSE), write(frames.slice(0, 1).join('')), reset()]],
      ['breaks off', [head(200, SSE), write(frames.slice(0, begun + 2).join('')), reset()]],
      ['ends early', [head(200, SSE), write(frames.slice(0, begun + 2).join('')), truncate()]],
      ['cannot be read', reply(200, '{"id": ')],
    ] as readonly [string, Script][])('is written off where an answer %s', async (_, script) => {
      upstream.answer(script);
      const record = await ask(name, `m/${name}`, { more: { stream: true } });
      expect(record.total_cost).toBe(0);
      expect(causesOf(record)).toEqual(['dropped']);
      expect(record.written_off).toBeGreaterThanOrEqual(upstream.requests.length * BILL - CLOSE);
    });

    it.each([
      ['refuses the request', reply(500, { error: { message: 'no' } })],
      ['has an error instead of an answer', reply(200, { error: { message: 'no' } })],
    ] as readonly [string, Script][])('is nothing where the upstream %s', async (_, script) => {
      upstream.answer(script);
      expect(await ask(name, `m/${name}`)).toMatchObject({ total_cost: 0, written_off: 0 });
    });

    describe('that is refused', () => {
      const refusal = refusalOf(name);
      const more = { models: [1, 2, 3].map((nth) => `m/${nth}-${name}`) };

      it('is charged, with the answer that follows it', async () => {
        upstream
          .answer(refusal)
          .answer(refusal)
          .answer(answer({ text: TEXT, usage: USED }));
        const record = await ask(name, `m/1-${name}`, { more });
        expect(upstream.requests).toHaveLength(3);
        expect(record).toMatchObject({ total_cost: expect.closeTo(3 * BILL, 9), written_off: 0 });
        expect(record.charges).toEqual([
          { kind: 'dropped_answer', cost: expect.closeTo(BILL, 9) },
          { kind: 'dropped_answer', cost: expect.closeTo(BILL, 9) },
        ]);
      });

      it('is the answer where the limits pay for no other one', async () => {
        upstream.answer(refusal);
        // The worst cost of one answer is about $0.05.
        const record = await ask(name, `m/1-${name}`, { key: await newKey(0.06), more });
        expect(upstream.requests).toHaveLength(1);
        expect(record).toMatchObject({ total_cost: expect.closeTo(BILL, 9), written_off: 0 });
      });
    });
  });
}

/** A whole answer by which a model declines. */
function refusalOf(name: Name): Script {
  const usage = {
    chat: {
      prompt_tokens: USED.input,
      completion_tokens: USED.output,
      total_tokens: USED.input + USED.output,
    },
    responses: {
      input_tokens: USED.input,
      output_tokens: USED.output,
      total_tokens: USED.input + USED.output,
    },
    messages: { input_tokens: USED.input, output_tokens: USED.output },
  }[name];
  const bodies = {
    chat: {
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'one',
      choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'content_filter' }],
      usage,
    },
    responses: {
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      model: 'one',
      status: 'incomplete',
      incomplete_details: { reason: 'content_filter' },
      output: [],
      usage,
    },
    messages: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'one',
      content: [],
      stop_reason: 'refusal',
      stop_sequence: null,
      usage,
    },
  };
  return [head(200, JSON_TYPE), write(JSON.stringify(bodies[name])), end()];
}
