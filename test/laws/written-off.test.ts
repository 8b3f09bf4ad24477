import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runs } from '../kit/builders/runs.ts';
import {
  end,
  type FakeUpstream,
  head,
  JSON_TYPE,
  openFakeUpstream,
  write,
} from '../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../kit/gateway-harness.ts';
import { postgresForTests } from '../kit/servers/postgres-server.ts';

const server = await postgresForTests();

/** USD a token or search, as the catalogue of this test says. */
const PRICES = { fresh: 3e-6, cached: 3e-7, written: 3.75e-6, written1h: 6e-6, output: 1.5e-5, search: 0.01 };

/** Usage that an upstream may report: plausible, implausible, and far beyond. */
const count = fc.oneof(
  fc.nat(2000),
  fc.nat({ max: 300_000 }),
  fc.integer({ min: 300_000, max: 12_000_000 }),
  fc.integer({ min: 12_000_000, max: 1_000_000_000 }),
);
const reports = fc.record({
  input_tokens: count,
  cache_read_input_tokens: count,
  written5m: count,
  written1h: count,
  output_tokens: count,
  searches: fc.oneof(fc.nat(3), fc.nat({ max: 1_100 }), fc.nat({ max: 1_000_000_000 })),
  maxUses: fc.option(fc.integer({ min: 1, max: 5 })),
  limit: fc.option(fc.constantFrom(0.03, 0.5, 20)),
});

type Report = typeof reports extends fc.Arbitrary<infer T> ? T : never;

/** What a report would cost at the prices of the catalogue. */
function priceOf({ input_tokens, cache_read_input_tokens, written5m, written1h, ...rest }: Report): number {
  return (
    input_tokens * PRICES.fresh +
    cache_read_input_tokens * PRICES.cached +
    written5m * PRICES.written +
    written1h * PRICES.written1h +
    rest.output_tokens * PRICES.output +
    rest.searches * PRICES.search
  );
}

/** Tokens of the largest context, and searches, beyond which no report is believed to be billed. */
const LARGEST = { tokens: 10_485_760, searches: 1000 };

/** Tokens and searches of an answer that is believed, at the worst. */
const MOST = { context: 300_000, output: 2000, uses: 5 };

const MOST_USD =
  (1 + MOST.uses) * MOST.context * PRICES.written1h +
  (1 + MOST.uses) * MOST.output * PRICES.output +
  MOST.uses * PRICES.search;

/** True if some model may have used what is reported. */
function isConceivable({ input_tokens, cache_read_input_tokens, written5m, written1h, ...rest }: Report) {
  const input = input_tokens + cache_read_input_tokens + written5m + written1h;
  const most = LARGEST.tokens * (1 + Math.min(rest.searches, rest.maxUses ?? 0));
  return input <= most && rest.output_tokens <= most && rest.searches <= LARGEST.searches;
}

const answerWith = (report: Report) => [
  head(200, JSON_TYPE),
  write(
    JSON.stringify({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'one',
      content: [{ type: 'text', text: 'found' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: {
        input_tokens: report.input_tokens,
        cache_read_input_tokens: report.cache_read_input_tokens,
        cache_creation_input_tokens: report.written5m + report.written1h,
        cache_creation: {
          ephemeral_5m_input_tokens: report.written5m,
          ephemeral_1h_input_tokens: report.written1h,
        },
        output_tokens: report.output_tokens,
        server_tool_use: { web_search_requests: report.searches },
      },
    }),
  ),
  end(),
];

describe.each([
  ['embedded', async () => ({})],
  ...(server === undefined
    ? []
    : [['PostgreSQL', async () => ({ DATABASE_URL: await server.createDatabase() })] as const]),
] as const)(
  'law: whatever an upstream may have used is charged, or written off with its cause (%s)',
  (_, env) => {
    let upstream: FakeUpstream;
    let gateway: TestGateway;

    beforeAll(async () => {
      upstream = await openFakeUpstream();
      const pricing = {
        prompt: PRICES.fresh.toFixed(10),
        completion: PRICES.output.toFixed(10),
        input_cache_read: PRICES.cached.toFixed(10),
        input_cache_write: PRICES.written.toFixed(10),
        input_cache_write_1h: PRICES.written1h.toFixed(10),
        web_search: PRICES.search.toFixed(10),
      };
      gateway = await openTestGateway(
        {
          providers: [{ slug: 'p', name: 'P', dialect: 'anthropic-messages', base_url: upstream.url }],
          models: [
            {
              id: 'm/one',
              context_length: 200_000,
              endpoints: [
                { provider: 'p', model: 'one', context_length: 200_000, max_output_tokens: 1000, pricing },
              ],
            },
          ],
        } as never,
        { env: await env() },
      );
    });

    afterAll(async () => {
      await gateway.close();
      await upstream.close();
    });

    const limitedKey = async (limit: number | null) => {
      const response = await gateway.fetch('/keys', {
        method: 'POST',
        key: gateway.managementKey,
        body: JSON.stringify({ name: 'Limited', limit }),
        headers: { 'content-type': 'application/json' },
      });
      return ((await response.json()) as { key: string }).key;
    };

    const writtenOffInAll = async () => {
      const headers = { authorization: `Bearer ${gateway.managementKey}` };
      const page = await (await fetch(`${gateway.origin}/metrics`, { headers })).text();
      const figures = page.matchAll(/signalbox_written_off_usd_total\{cause="\w+"\} (\S+)/g);
      return [...figures].reduce((sum, [, figure]) => sum + Number(figure), 0);
    };

    it('to the last nano-dollar, in the record and in the metric', async () => {
      await fc.assert(
        fc.asyncProperty(reports, async (report) => {
          const before = await writtenOffInAll();
          upstream.clear();
          upstream.answer(answerWith(report));
          const tool = { type: 'web_search_20250305', name: 'web_search' };
          const response = await gateway.post(
            '/messages',
            {
              model: 'm/one',
              max_tokens: 20,
              messages: [{ role: 'user', content: 'Look it up' }],
              ...(report.maxUses !== null && { tools: [{ ...tool, max_uses: report.maxUses }] }),
            },
            { authorization: `Bearer ${await limitedKey(report.limit)}` },
          );
          await response.text();
          if (response.status === 402) {
            expect(upstream.requests).toHaveLength(0);
            return;
          }
          expect(response.status).toBe(200);
          const id = response.headers.get('x-generation-id');
          const shown = await gateway.fetch(`/generation?id=${id}`);
          const record = ((await shown.json()) as any).data;
          const { total_cost, written_off, written_off_cause } = record;
          expect(total_cost).toBeLessThanOrEqual(report.limit ?? Number.POSITIVE_INFINITY);
          // Our own count may be higher than a report of nothing.
          const price = priceOf(report);
          const isExact = record.usage_source === 'measured' || written_off_cause === 'disputed';
          const accounted = total_cost + written_off;
          // A report that no model can have used says nothing: then it is what the call may cost.
          if (!isConceivable(report)) {
            expect(accounted).toBeLessThanOrEqual(MOST_USD);
            return;
          }
          expect(accounted).toBeGreaterThanOrEqual(price * (1 - 1e-9) - 1e-9);
          if (isExact) expect(accounted).toBeLessThanOrEqual(price * (1 + 1e-9) + 1e-9);
          expect(written_off_cause === null).toBe(written_off === 0);
          const counted = (await writtenOffInAll()) - before;
          expect(Math.abs(counted - written_off)).toBeLessThanOrEqual(1e-6 + written_off * 1e-6);
        }),
        { numRuns: runs(20, 60) },
      );
    });
  },
);
