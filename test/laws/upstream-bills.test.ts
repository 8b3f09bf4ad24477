import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runs } from '../builders/runs.ts';
import { openTestGateway, type TestGateway } from '../e2e/harness.ts';
import {
  BILLED_DIALECTS,
  BILLED_PRICING,
  type BilledDialect,
  type BilledUpstream,
  openBilledUpstream,
  type Work,
  type WorkEnd,
} from '../fakes/billed-upstream.ts';
import { postgresForTests } from '../postgres/postgres-server.ts';

const server = await postgresForTests();

const DIALECTS = Object.keys(BILLED_DIALECTS) as BilledDialect[];

const PATHS = { chat: '/chat/completions', responses: '/responses', messages: '/messages' } as const;
type Format = keyof typeof PATHS;
const FORMATS = Object.keys(PATHS) as Format[];

/** Milliseconds after which providers with short time limits give an upstream up. */
const SHORT_LIMIT_MS = 250;

/** A credential of AWS, which requests are signed with. */
const AWS_KEY = JSON.stringify({
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'a-secret-of-the-tests',
  region: 'us-east-1',
});

/** Every dialect as two providers, and as two with short time limits. */
function configFor(upstream: BilledUpstream) {
  const size = { context_length: 200_000, max_output_tokens: 4_000 };
  const kinds = ['first', 'second', 'hasty', 'hasty-second'] as const;
  const providers = DIALECTS.flatMap((dialect) =>
    kinds.map((kind) => ({
      slug: `${dialect}-${kind}`,
      name: `${dialect} ${kind}`,
      dialect: BILLED_DIALECTS[dialect],
      base_url: upstream.urlOf(dialect),
      ...(dialect === 'bedrock' && { api_key: AWS_KEY }),
      ...(kind.startsWith('hasty') && {
        timeouts_ms: { first_byte: SHORT_LIMIT_MS, idle: SHORT_LIMIT_MS, total: 2 * SHORT_LIMIT_MS },
      }),
    })),
  );
  const model = (id: string, dialect: BilledDialect, of: readonly (typeof kinds)[number][]) => ({
    id,
    ...size,
    endpoints: of.map((kind) => ({
      provider: `${dialect}-${kind}`,
      model: 'one',
      ...size,
      pricing: BILLED_PRICING,
    })),
  });
  return {
    providers,
    models: DIALECTS.flatMap((dialect) => [
      model(`m/${dialect}`, dialect, ['first', 'second']),
      model(`m/${dialect}-hasty`, dialect, ['hasty', 'hasty-second']),
    ]),
    routing: { cooldown: { failures: 1_000 } },
  } as never;
}

/** What a caller asks, what upstreams do, and when the caller leaves. */
interface Case {
  readonly format: Format;
  readonly dialect: BilledDialect;
  readonly streams: boolean;
  /** Of the calls, one after the other; the last one stays. */
  readonly works: readonly Work[];
  /** Words after which the caller leaves: 0 = before anything came; null = never. */
  readonly leavesAfter: number | null;
  readonly isLimited: boolean;
  /** A guardrail blocks `BLOCKED_WORD`, so that the gateway itself ends answers that have it. */
  readonly isGuarded: boolean;
}

const BLOCKED_WORD = 'word3';

/** Endings after which only the caller, or a time limit, ends the generation. */
const WAITS: ReadonlySet<WorkEnd> = new Set<WorkEnd>(['silent', 'stall']);

const work = (how: fc.Arbitrary<WorkEnd>): fc.Arbitrary<Work> =>
  fc.record({
    input: fc.integer({ min: 500, max: 4_000 }),
    cached: fc.nat(250),
    written: fc.oneof(fc.constant(0), fc.nat(250)),
    visible: fc.integer({ min: 1, max: 12 }),
    hidden: fc.oneof(fc.constant(0), fc.nat(2_000)),
    searches: fc.oneof(fc.constant(0), fc.nat(2)),
    drawn: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 500 })),
    runsCode: fc.boolean(),
    how,
  });

const cases: fc.Arbitrary<Case> = fc.record({
  format: fc.constantFrom(...FORMATS),
  dialect: fc.constantFrom(...DIALECTS),
  streams: fc.boolean(),
  works: fc
    .tuple(
      fc.array(work(fc.constantFrom<WorkEnd>('refuse', 'empty', 'silent', 'late', 'reset', 'fail')), {
        maxLength: 2,
      }),
      work(
        fc.constantFrom<WorkEnd>(
          'answer',
          'answer',
          'answer',
          'refuse',
          'empty',
          'silent',
          'late',
          'reset',
          'stall',
          'break',
          'fail',
        ),
      ),
    )
    .map(([before, last]) => [...before, last]),
  leavesAfter: fc.option(fc.nat(12), { freq: 2 }),
  isLimited: fc.boolean(),
  isGuarded: fc.boolean(),
});

const PROMPT = 'word '.repeat(500);

/** `isHasty`: at providers with short time limits. */
function bodyOf({ format, dialect, streams, works }: Case, isHasty: boolean) {
  const searches = works.some((each) => each.searches > 0);
  const draws = works.some((each) => each.drawn > 0);
  const runsCode = works.some((each) => each.runsCode);
  const body = { model: `m/${dialect}${isHasty ? '-hasty' : ''}`, stream: streams };
  const asked = [{ role: 'user', content: PROMPT }];
  if (format === 'messages') {
    const tools = [
      ...(searches ? [{ type: 'web_search_20250305', name: 'web_search', max_uses: 4 }] : []),
      ...(runsCode ? [{ type: 'code_execution_20250825', name: 'code_execution' }] : []),
    ];
    return { ...body, max_tokens: 4_000, messages: asked, ...(tools.length > 0 && { tools }) };
  }
  if (format === 'responses') {
    const tools = [
      ...(searches ? [{ type: 'web_search' }] : []),
      ...(runsCode ? [{ type: 'code_interpreter', container: { type: 'auto' } }] : []),
      ...(draws ? [{ type: 'image_generation', quality: 'low', size: '1024x1024' }] : []),
    ];
    const limited = tools.length > 0 && { tools, max_tool_calls: 4 };
    return { ...body, max_output_tokens: 4_000, input: asked, ...limited };
  }
  return { ...body, max_tokens: 4_000, messages: asked };
}

describe.each([
  ['embedded', async () => ({})],
  ...(server === undefined
    ? []
    : [['PostgreSQL', async () => ({ DATABASE_URL: await server.createDatabase() })] as const]),
] as const)('law: what upstreams bill is charged, or written off where it is seen (%s)', (_, env) => {
  let upstream: BilledUpstream;
  let gateway: TestGateway;

  beforeAll(async () => {
    upstream = await openBilledUpstream();
    gateway = await openTestGateway(configFor(upstream), { env: await env() });
  });

  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });

  const manage = async (path: string, body: object): Promise<any> => {
    const response = await gateway.fetch(path, {
      method: 'POST',
      key: gateway.managementKey,
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
    expect(response.ok, path).toBe(true);
    return await response.json();
  };

  const keyWith = async (limit: number | null): Promise<{ key: string; hash: string }> => {
    const { key, data } = await manage('/keys', { name: 'Law', limit });
    return { key, hash: data.hash };
  };

  const guardedKeyWith = async (limit: number | null): Promise<{ key: string; hash: string }> => {
    const made = await keyWith(limit);
    const content_filters = [{ pattern: BLOCKED_WORD, action: 'block' }];
    const { data } = await manage('/guardrails', { name: 'Law', content_filters });
    await manage(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [made.hash] });
    return made;
  };

  const keys = new Map<string, Promise<{ key: string; hash: string }>>();
  const keyFor = ({ isLimited, isGuarded }: Case) => {
    const kind = `${isLimited} ${isGuarded}`;
    const known = keys.get(kind) ?? (isGuarded ? guardedKeyWith : keyWith)(isLimited ? 1_000 : null);
    keys.set(kind, known);
    return known;
  };

  /** Asks, and leaves when the case says so. Returns whether anything was refused before an upstream was asked. */
  const ask = async (each: Case, key: string, isHasty: boolean): Promise<number | undefined> => {
    const leaving = new AbortController();
    const { leavesAfter, streams } = each;
    const asking = gateway.fetch(PATHS[each.format], {
      method: 'POST',
      key,
      signal: leaving.signal,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(bodyOf(each, isHasty)),
    });
    try {
      if (leavesAfter === 0 || (leavesAfter !== null && !streams)) {
        await upstream.fake.request(0);
        leaving.abort();
      }
      const response = await asking;
      await readUntil(response, leavesAfter ?? Number.POSITIVE_INFINITY, leaving);
      return response.status;
    } catch (error) {
      if (!leaving.signal.aborted) throw error;
      return undefined;
    }
  };

  /** Log lines of ended generations, in their order. */
  const recorded = () =>
    gateway
      .logText()
      .split('\n')
      .filter((line) => line.includes('"message":"generation'))
      .map((line) => JSON.parse(line) as Readonly<Record<'id' | 'message' | 'key_hash', string>>)
      .filter(({ message }) => /^generation(?: failed| refused)?$/.test(message));

  const recordOf = async (id: string): Promise<any> => {
    const shown = await gateway.fetch(`/generation?id=${id}`);
    // A request that a limit refuses has a log line and no record.
    if (shown.status === 404) return { total_cost: 0, written_off: 0, write_offs: [] };
    return ((await shown.json()) as any).data;
  };

  it('for one request, however it ends', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async (each) => {
        upstream.fake.requests.length = 0;
        upstream.clear();
        upstream.plan(...each.works);
        const before = recorded().length;
        const { key } = await keyFor(each);
        await ask(
          each,
          key,
          each.works.some(({ how }) => WAITS.has(how)),
        );
        await expect.poll(() => recorded().length, { timeout: 20_000 }).toBe(before + 1);
        const record = await recordOf(String(recorded().at(-1)?.id));
        const { total_cost: charged, written_off: writtenOff, write_offs: parts } = record;
        const story = JSON.stringify({ each, charged, parts, bill: upstream.billUsd, calls: upstream.calls });
        expect(charged + writtenOff, story).toBeGreaterThanOrEqual(upstream.billUsd - 1e-9);
        // Of an answer that was read to its end at the first endpoint, only searches are written off that did not go
        // upstream with the request: they are disputed.
        const [only] = each.works;
        if (
          each.works.length === 1 &&
          only?.how === 'answer' &&
          !each.isGuarded &&
          record.cancelled !== true
        ) {
          expect(charged + writtenOff, story).toBeCloseTo(upstream.billUsd, 9);
          expect(only.searches > 0 || writtenOff === 0, story).toBe(true);
        }
        expect(writtenOff).toBeCloseTo(
          parts.reduce((sum: number, { cost }: { cost: number }) => sum + cost, 0),
          9,
        );
      }),
      { numRuns: runs(60, 1_000), endOnFailure: true },
    );
  });

  it('for racing requests of a key with a small limit, whatever their callers do', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(cases, { minLength: 8, maxLength: 16 }), async (all) => {
        upstream.fake.requests.length = 0;
        upstream.clear();
        upstream.plan(...all.flatMap(({ works }) => works));
        const limit = 0.15;
        const { key, hash } = await keyWith(limit);
        const statuses = await Promise.all(
          all.map((each) =>
            // Which request gets which work is open, so each may meet one that makes it wait.
            ask({ ...each, leavesAfter: each.leavesAfter === 0 ? 1 : each.leavesAfter }, key, true),
          ),
        );
        // Which are refused is not known in advance: waits until nothing is open any more.
        await expect.poll(openGenerations, { timeout: 20_000 }).toBe(0);
        let records: any[] = [];
        const sum = (name: string) => records.reduce((all, record) => all + record[name], 0);
        const shown = (await (await gateway.fetch('/key', { key })).json()) as any;
        // A generation is logged a moment after it is settled.
        const logged = async () => {
          const ofKey = recorded().filter(({ key_hash }) => key_hash === hash);
          records = await Promise.all(ofKey.map(({ id }) => recordOf(id)));
          return sum('total_cost');
        };
        await expect.poll(logged, { timeout: 20_000 }).toBeCloseTo(shown.data.usage, 9);
        const charged = sum('total_cost');
        const story = JSON.stringify({
          statuses,
          charged,
          writtenOff: sum('written_off'),
          bill: upstream.billUsd,
        });
        expect(charged, story).toBeLessThanOrEqual(limit + 1e-9);
        expect(upstream.billUsd - sum('written_off'), story).toBeLessThanOrEqual(limit + 1e-9);
      }),
      { numRuns: runs(4, 60), endOnFailure: true },
    );
  });

  const openGenerations = async (): Promise<number> => {
    const headers = { authorization: `Bearer ${gateway.managementKey}` };
    const page = await (await fetch(`${gateway.origin}/metrics`, { headers })).text();
    return Number(/^signalbox_open_reservations(?:\{[^}]*\})? (\S+)/m.exec(page)?.[1]);
  };
});

/** Reads a stream until so many words came, then leaves; or to its end. */
async function readUntil(response: Response, words: number, leaving: AbortController): Promise<void> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += decoder.decode(value, { stream: true });
    if (text.split(/word\d+ /).length > words) {
      leaving.abort();
      return;
    }
  }
}
