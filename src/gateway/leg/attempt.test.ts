import { describe, expect, it } from 'vitest';
import { endpointOf, modelOf, providerOf } from '../../../test/kit/builders/catalog.ts';
import { requestOf } from '../../../test/kit/builders/request.ts';
import type { Model } from '../../catalog/catalog.ts';
import { GatewayError } from '../../ir/errors.ts';
import type { Event, EventBatch } from '../../ir/events.ts';
import { systemClock } from '../../kit/time/clock.ts';
import { Health } from '../../routing/health/health.ts';
import { type Candidate, SHARED } from '../../routing/rules/candidate.ts';
import { type PaidLimits, type UpstreamCall, UpstreamFailure } from '../../upstream/upstream.ts';
import { AttemptLog, routingMetadata } from '../record/attempt-log.ts';
import { Attempts } from './attempt.ts';
import type { LegSurroundings } from './leg-dependencies.ts';

const say = (text: string): Event[] => [
  { type: 'item-start', item: 0, head: { type: 'message' } },
  { type: 'text-delta', item: 0, part: 0, kind: 'text', text },
];
const stop: Event = { type: 'finish', reason: 'stop' };
const fail = (kind: 'rate-limited' | 'upstream-unavailable', status: number, retryAfterSeconds?: number) =>
  new UpstreamFailure(kind, 'Provider returned error', status, {
    retryAfterSeconds,
    metadata: { provider_name: kind },
  });

type Outcome = EventBatch[] | UpstreamFailure;
/** Outcome of all calls of an endpoint, or of each in order. */
type Script = Outcome | { readonly inTurn: readonly Outcome[] };

/**
 * Runs the loop over endpoints `p0`, `p1`, ... that behave as scripted; all serve one model unless models are given.
 */
async function run(
  scripts: Script[],
  options: {
    models?: Model[];
    limits?: { perModel: number; perRequest: number };
    echo?: boolean;
    signal?: AbortSignal;
    canPay?: (candidate: Candidate) => boolean;
    paid?: PaidLimits;
    isAbandoned?: () => boolean;
    allowsFallbacks?: boolean;
    payDropped?: (candidate: Candidate) => boolean;
  } = {},
) {
  const endpoints = scripts.map((_, index) =>
    endpointOf({ provider: providerOf({ slug: `p${index}`, name: `P${index}` }) }),
  );
  const shared = modelOf({ endpoints });
  const candidates = endpoints.map((endpoint, index) => ({
    model: options.models?.[index] ?? shared,
    endpoint,
    access: SHARED,
    lane: 'translate' as const,
    isSticky: false,
  }));
  const attemptLog = new AttemptLog({
    requested: 'acme/large',
    strategy: 'direct',
    candidates,
    rejected: [],
    pipeline: [],
    report: [],
  });
  let closed = 0;
  const calls: UpstreamCall[] = [];
  const callUpstream = async (call: UpstreamCall) => {
    calls.push(call);
    const outcomes = scripts[endpoints.indexOf(call.endpoint)] as Script;
    const earlier = calls.filter(({ endpoint }) => endpoint === call.endpoint).length - 1;
    const script = 'inTurn' in outcomes ? outcomes.inTurn[earlier] : outcomes;
    call.onRequest?.({ to: call.endpoint.provider.slug });
    if (script instanceof UpstreamFailure) throw script;
    async function* batches() {
      try {
        yield* script as EventBatch[];
      } finally {
        closed++;
      }
    }
    return { status: 200, report: [], batches: batches() };
  };
  const request = requestOf({ echoUpstreamBody: options.echo ?? false });
  const events: Event[] = [];
  const failed: (UpstreamFailure['lostBy'] | 'told')[] = [];
  const dropped: string[] = [];
  /** Calls that had been made when lost ones were noted. */
  const notedAfter: number[] = [];
  let error: unknown;
  try {
    const running = {
      leg: attemptLog.firstLeg,
      request,
      around: {
        input: { caller: { accountId: 'account' }, replied: () => Promise.resolve() },
        signal: options.signal ?? new AbortController().signal,
        dependencies: { callUpstream, clock: systemClock, userHashKey: Buffer.alloc(32) },
        state: { credentials: { open: () => undefined } },
      } as unknown as LegSurroundings,
      health: new Health({
        clock: systemClock,
        random: () => 0,
        settings: () => ({ failures: 5, baseMs: 30_000, maxMs: 300_000 }),
      }),
      limits: options.limits ?? { perModel: 3, perRequest: 8 },
      admission: {
        canPay: (candidate: Candidate) => options.canPay?.(candidate) ?? true,
        paidLimits: () => options.paid ?? {},
      },
      isAbandoned: () => options.isAbandoned?.() ?? false,
      allowsFallbacks: options.allowsFallbacks ?? true,
      noteFailed: (_: Candidate, { lostBy }: UpstreamFailure) => void failed.push(lostBy ?? 'told'),
      noteLost: () => {
        if (failed.length + dropped.length === 0) return undefined;
        return Promise.resolve().then(() => void notedAfter.push(calls.length));
      },
      payDropped: async (candidate: Candidate) => {
        dropped.push(candidate.endpoint.provider.slug);
        return options.payDropped?.(candidate) ?? true;
      },
    };
    for await (const batch of new Attempts(running)) events.push(...batch);
  } catch (thrown) {
    error = thrown;
  }
  const text = events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');
  return {
    events,
    text,
    error: error as GatewayError | undefined,
    attemptLog,
    closed,
    calls,
    failed,
    dropped,
    notedAfter,
  };
}

describe('attempts', () => {
  it('passes the first answer on', async () => {
    const { text, attemptLog } = await run([[say('one'), [stop]], [say('two')]]);
    expect(text).toBe('one');
    expect(attemptLog.selected?.endpoint.provider.name).toBe('P0');
    expect(attemptLog.attempts).toEqual([{ provider: 'P0', model: 'acme/large', status: 200 }]);
  });

  it('moves on when a call fails, and when a stream fails before content', async () => {
    const broken: Event = { type: 'failure', error: new GatewayError('upstream-unavailable', 'cut') };
    const { text, attemptLog } = await run([
      fail('rate-limited', 429),
      [[{ type: 'start' }], [broken]],
      [say('three'), [stop]],
    ]);
    expect(text).toBe('three');
    expect(attemptLog.attempts.map(({ status }) => status)).toEqual([429, 200, 200]);
  });

  it('does not move on once content was forwarded', async () => {
    const broken: Event = { type: 'failure', error: new GatewayError('upstream-unavailable', 'cut') };
    const { events, text } = await run([
      [say('half'), [broken]],
      [say('whole'), [stop]],
    ]);
    expect(text).toBe('half');
    expect(events.at(-1)).toBe(broken);
  });

  it('holds nothing back that came before the content', async () => {
    const { events } = await run([[[{ type: 'start', upstreamId: 'u' }], say('x'), [stop]]]);
    expect(events[0]).toEqual({ type: 'start', upstreamId: 'u' });
  });

  it('moves on from a refusal to another model, never to another endpoint of the same one', async () => {
    const refusal: EventBatch[] = [[{ type: 'finish', reason: 'refusal' }]];
    const other = modelOf({ id: 'acme/small' });
    const left = await run([refusal, [say('fine'), [stop]]], { models: [modelOf(), other] });
    expect(left.text).toBe('fine');
    const kept = await run([refusal, [say('fine'), [stop]]]);
    expect(kept.events).toEqual([{ type: 'finish', reason: 'refusal' }]);
  });

  it('moves on from a filtered answer to another model', async () => {
    const cut: EventBatch[] = [[...say('part'), { type: 'finish', reason: 'content-filter' }]];
    const models = [modelOf(), modelOf({ id: 'acme/small' })];
    expect((await run([cut, [say('fine'), [stop]]], { models })).text).toBe('fine');
    expect((await run([cut, [say('fine'), [stop]]])).text).toBe('part');
  });

  it('moves on from an empty answer while another candidate is left', async () => {
    expect((await run([[[stop]], [say('full'), [stop]]])).text).toBe('full');
    expect((await run([[[stop]]])).events).toEqual([stop]);
  });

  it('pays for each answer that it drops, and for no other', async () => {
    const { dropped } = await run([[[stop]], fail('rate-limited', 429), [[stop]], [say('full'), [stop]]], {
      limits: { perModel: 4, perRequest: 8 },
    });
    expect(dropped).toEqual(['p0', 'p2']);
  });

  it('notes what lost calls may cost before each further one, and waits for that', async () => {
    const late = new UpstreamFailure('upstream-unavailable', 'late', 0, { lostBy: 'time-limit' });
    const { text, notedAfter } = await run(
      [fail('rate-limited', 429), [[stop]], late, [say('full'), [stop]]],
      {
        limits: { perModel: 4, perRequest: 8 },
      },
    );
    expect(text).toBe('full');
    expect(notedAfter).toEqual([1, 2, 3]);
    expect((await run([late])).notedAfter).toEqual([]);
    expect((await run([[say('one'), [stop]]])).notedAfter).toEqual([]);
  });

  it('passes an empty answer on if the limits do not pay for another one', async () => {
    const { events, calls } = await run([[[stop]], [say('full'), [stop]]], { payDropped: () => false });
    expect(events).toEqual([stop]);
    expect(calls).toHaveLength(1);
  });

  describe('after a time limit', () => {
    const late = new UpstreamFailure('upstream-timeout', 'Request timed out', 0, { lostBy: 'time-limit' });
    const unreached = new UpstreamFailure('upstream-unavailable', 'Provider returned error', 0, {
      isConnection: true,
    });
    const limits = { perModel: 8, perRequest: 8 };
    const answer: EventBatch[] = [say('fine'), [stop]];

    it.each([
      ['one further endpoint', [late, answer], ['P0', 'P1']],
      ['no second one', [late, late, answer], ['P0', 'P1']],
      ['none after another failure', [late, fail('upstream-unavailable', 500), answer], ['P0', 'P1']],
      ['another one instead of those that cannot be reached', [late, unreached, answer], ['P0', 'P1', 'P2']],
      ['any number before it', [unreached, unreached, late, answer], ['P0', 'P1', 'P2', 'P3']],
    ])('calls %s', async (_, scripts, called) => {
      const { attemptLog } = await run(scripts as Script[], { limits });
      expect(attemptLog.attempts.map(({ provider }) => provider)).toEqual(called);
    });

    it('calls none if the request forbids fallbacks', async () => {
      const models = [modelOf(), modelOf({ id: 'acme/small' })];
      const { calls, failed, error } = await run([late, answer], { limits, models, allowsFallbacks: false });
      expect(calls).toHaveLength(1);
      expect(failed).toEqual(['time-limit']);
      expect(error).toMatchObject({ kind: 'upstream-timeout' });
    });
  });

  it('lets the last failure decide, with the smallest wait and what went before', async () => {
    const { error } = await run([fail('upstream-unavailable', 500, 9), fail('rate-limited', 429, 30)]);
    expect(error).toMatchObject({ kind: 'rate-limited', retryAfterSeconds: 9 });
    expect(error?.metadata?.previous_errors).toEqual([
      { provider: 'upstream-unavailable', code: 502, status: 500 },
    ]);
  });

  describe('over a connection that was closed already', () => {
    const stale = new UpstreamFailure('upstream-unavailable', 'Provider returned error', 0, {
      isStale: true,
    });
    const answer: EventBatch[] = [say('fine'), [stop]];

    it('calls the same endpoint again, and counts both calls', async () => {
      const { events, attemptLog, calls } = await run([{ inTurn: [stale, answer] }, [say('other'), [stop]]], {
        echo: true,
      });
      const provider = { provider: 'P0', model: 'acme/large' };
      expect(attemptLog.attempts).toEqual([
        { ...provider, status: 502 },
        { ...provider, status: 200 },
      ]);
      expect(routingMetadata(attemptLog, null, 'served').attempt).toBe(2);
      expect(calls).toHaveLength(2);
      // One for each provider, not for each call.
      expect(events.filter(({ type }) => type === 'debug')).toHaveLength(1);
    });

    it.each([
      ['request', { perModel: 3, perRequest: 1 }, ['P0']],
      ['model', { perModel: 1, perRequest: 8 }, ['P0']],
      ['request, for others too', { perModel: 3, perRequest: 2 }, ['P0', 'P0']],
    ])('keeps to the limit per %s', async (_, limits, called) => {
      const script = { inTurn: [stale, fail('upstream-unavailable', 500)] };
      const { error, attemptLog } = await run([script, answer], { limits });
      expect(attemptLog.attempts.map(({ provider }) => provider)).toEqual(called);
      expect(error).toMatchObject({ status: 502 });
    });

    it('makes no call again once the caller has left', async () => {
      let asked = 0;
      const isAbandoned = () => asked++ > 0;
      const { attemptLog } = await run([{ inTurn: [stale, answer] }], { isAbandoned });
      expect(attemptLog.attempts).toHaveLength(1);
    });
  });

  it('keeps to the limits per model and per request', async () => {
    const failing = Array.from({ length: 6 }, () => fail('upstream-unavailable', 500));
    expect((await run(failing)).attemptLog.attempts).toHaveLength(3);
    const models = failing.map((_, index) => modelOf({ id: `m/${index}` }));
    expect(
      (await run(failing, { models, limits: { perModel: 3, perRequest: 5 } })).attemptLog.attempts,
    ).toHaveLength(5);
  });

  it('echoes what was sent to every endpoint it tried', async () => {
    const { events } = await run([fail('rate-limited', 429), [say('x'), [stop]]], { echo: true });
    expect(events.slice(0, 2)).toEqual([
      { type: 'debug', upstreamBody: { to: 'p0' } },
      { type: 'debug', upstreamBody: { to: 'p1' } },
    ]);
  });

  it('echoes what was sent where all endpoints fail, in the error that it throws', async () => {
    const { events, error } = await run([fail('rate-limited', 429), fail('upstream-unavailable', 500)], {
      echo: true,
    });
    expect(events).toEqual([]);
    expect(error).toBeInstanceOf(UpstreamFailure);
    expect(error).toMatchObject({
      kind: 'upstream-unavailable',
      upstreamStatus: 500,
      metadata: { echo_upstream_body: [{ to: 'p0' }, { to: 'p1' }] },
    });
  });

  it('skips candidates that the money does not pay for', async () => {
    const { text, attemptLog } = await run(
      [
        [say('dear'), [stop]],
        [say('cheap'), [stop]],
      ],
      {
        canPay: ({ endpoint }) => endpoint.provider.slug !== 'p0',
      },
    );
    expect(text).toBe('cheap');
    expect(attemptLog.attempts.map(({ provider }) => provider)).toEqual(['P1']);
  });

  it('reports too little money, not failing endpoints, if no endpoint can be paid', async () => {
    const { error, attemptLog } = await run([[say('dear'), [stop]]], { canPay: () => false });
    expect(error).toMatchObject({ status: 402, message: expect.stringContaining('pays for no endpoint') });
    expect(attemptLog.attempts).toHaveLength(0);
  });

  it('sends every endpoint the output and calls of tools that are paid for', async () => {
    const { calls } = await run([fail('rate-limited', 429), [say('x'), [stop]]], {
      paid: { outputTokens: 70, toolCalls: 3 },
    });
    expect(calls.map(({ paid }) => paid?.outputTokens)).toEqual([70, 70]);
    expect(calls.map(({ paid }) => paid?.toolCalls)).toEqual([3, 3]);
  });

  it('calls no other candidate once the caller has left', async () => {
    let hasLeft = false;
    const answers: Script[] = [fail('rate-limited', 429), [say('two'), [stop]]];
    const { error, attemptLog } = await run(answers, {
      isAbandoned: () => {
        const was = hasLeft;
        hasLeft = true;
        return was;
      },
    });
    expect(error).toMatchObject({ kind: 'rate-limited' });
    expect(attemptLog.attempts).toHaveLength(1);
  });

  it('does not count an abandoned answer as a failure', async () => {
    const aborting = new AbortController();
    const gone = new Error('the caller is gone');
    const cut: Event = { type: 'failure', error: new GatewayError('server', 'Internal Server Error') };
    const answer: EventBatch[] = [[{ type: 'start' }], [cut]];
    Object.defineProperty(answer, 1, {
      get() {
        aborting.abort(gone);
        return [cut];
      },
    });
    const { error, attemptLog } = await run([answer, [say('two'), [stop]]], { signal: aborting.signal });
    expect(error).toBe(gone);
    expect(attemptLog.attempts).toEqual([{ provider: 'P0', model: 'acme/large', status: 499 }]);
  });
});
