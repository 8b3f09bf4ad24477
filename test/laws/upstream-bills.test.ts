import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pdfOf } from '../kit/builders/pdf.ts';
import { runs } from '../kit/builders/runs.ts';
import { type BilledUpstream, openBilledUpstream } from '../kit/fakes/billed-upstream.ts';
import {
  BILLED_DIALECTS,
  BILLED_PRICES,
  BILLED_PRICING,
  type BilledDialect,
  type ReadingEnd,
  type Work,
  type WorkEnd,
} from '../kit/fakes/billed-work.ts';
import { racingStage } from '../kit/fakes/leg-stages.ts';
import { openTestGateway, type TestGateway } from '../kit/gateway-harness.ts';
import { postgresForTests } from '../kit/servers/postgres-server.ts';

const server = await postgresForTests();

const DIALECTS = Object.keys(BILLED_DIALECTS) as BilledDialect[];

const PATHS = { chat: '/chat/completions', responses: '/responses', messages: '/messages' } as const;
type Format = keyof typeof PATHS;
const FORMATS = Object.keys(PATHS) as Format[];

/** Milliseconds after which providers with short time limits give an upstream up, and tools are cut. */
const SHORT_LIMIT_MS = 250;

/** A credential of AWS, which requests are signed with. */
const AWS_KEY = JSON.stringify({
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'a-secret-of-the-tests',
  region: 'us-east-1',
});

/** Providers of each dialect. `hasty` ones have short time limits; what callers wish rules `outside` out. */
const KINDS = ['first', 'second', 'hasty', 'hasty-second', 'outside'] as const;
type Kind = (typeof KINDS)[number];

/** What a completion costs outside, times that of the others: more than callers want to pay. */
const OUTSIDE_TIMES = 2;

const OUTSIDE_PRICING = Object.fromEntries(
  Object.entries(BILLED_PRICING).map(([name, price]) => [name, (Number(price) * OUTSIDE_TIMES).toFixed(10)]),
);

function configFor(upstream: BilledUpstream) {
  const size = { context_length: 200_000, max_output_tokens: 4_000 };
  const policy = (retains: boolean) => ({ training: retains, retains_prompts: retains });
  const providers = DIALECTS.flatMap((dialect) =>
    KINDS.map((kind) => ({
      slug: `${dialect}-${kind}`,
      name: `${dialect} ${kind}`,
      dialect: BILLED_DIALECTS[dialect],
      base_url: upstream.urlOf(dialect, kind),
      data_policy: policy(kind === 'outside'),
      ...(dialect === 'bedrock' && { api_key: AWS_KEY }),
      ...(kind !== 'first' &&
        kind !== 'second' && {
          timeouts_ms: { first_byte: SHORT_LIMIT_MS, idle: SHORT_LIMIT_MS, total: 2 * SHORT_LIMIT_MS },
        }),
    })),
  );
  const service = {
    slug: 'service',
    dialect: 'openai-chat',
    base_url: upstream.serviceUrl,
    api_key: 'k',
    data_policy: policy(false),
  };
  const model = (id: string, dialect: BilledDialect, of: readonly Kind[], more: object = {}) => ({
    id,
    ...size,
    ...more,
    endpoints: of.map((kind) => ({
      provider: `${dialect}-${kind}`,
      model: 'one',
      ...size,
      pricing: kind === 'outside' ? OUTSIDE_PRICING : BILLED_PRICING,
    })),
  });
  const calm: Kind[] = ['first', 'second', 'outside'];
  const hasty: Kind[] = ['hasty', 'hasty-second', 'outside'];
  const draws = { output_modalities: ['text', 'image'] };
  return {
    providers: [...providers, service],
    models: DIALECTS.flatMap((dialect) => [
      model(`m/${dialect}`, dialect, calm),
      model(`m/${dialect}-hasty`, dialect, hasty),
      model(`task/${dialect}`, dialect, calm, draws),
      model(`task/${dialect}-hasty`, dialect, hasty, draws),
    ]),
    routing: { cooldown: { failures: 1_000 } },
    tools: { limits: { tool_ms: SHORT_LIMIT_MS } },
    plugins: {
      moderation: { provider: 'service', model: 'judge' },
      'file-parser': { ocr: { provider: 'service', model: 'ocr', price_per_page: BILLED_PRICES.page } },
    },
  } as never;
}

const INSIDE = DIALECTS.flatMap((dialect) =>
  KINDS.filter((kind) => kind !== 'outside').map((kind) => `${dialect}-${kind}`),
);

/** Wishes on providers, each with the parts of paths that it rules out. */
const WISHES = [
  { provider: { ignore: DIALECTS.map((dialect) => `${dialect}-outside`) }, rulesOut: ['outside'] },
  { provider: { only: [...INSIDE, 'service'] }, rulesOut: ['outside'] },
  { provider: { only: INSIDE }, rulesOut: ['outside', 'service'] },
  { provider: { max_price: { completion: BILLED_PRICES.completion * 1e6 * 1.5 } }, rulesOut: ['outside'] },
  { provider: { zdr: true }, rulesOut: ['outside'] },
  { provider: { data_collection: 'deny', ignore: ['service'] }, rulesOut: ['outside', 'service'] },
];

/** Tools that ask another model. */
const ASKING_TOOLS = ['subagent', 'advisor', 'image_generation'] as const;

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
  /** The request brings a file of so many pages, which a service reads. */
  readonly file: { readonly pages: number; readonly how: ReadingEnd } | null;
  readonly isModerated: boolean;
  /** A tool that has another model work, as `work.tasks` says. */
  readonly asks: {
    readonly tool: (typeof ASKING_TOOLS)[number];
    readonly dialect: BilledDialect;
    readonly works: readonly Work[];
  } | null;
  /** A stage calls the model twice at once, and gives one of the calls up. */
  readonly races: boolean;
  readonly maxCost: { readonly usd: number; readonly hard: boolean } | null;
  readonly wish: (typeof WISHES)[number] | null;
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
    tasks: fc.integer({ min: 1, max: 3 }),
    how,
  });

/** Half of them answer, the others end in any way. */
const lastWork = work(
  fc.constantFrom<WorkEnd>(
    ...Array.from({ length: 8 }, (): WorkEnd => 'answer'),
    'slow',
    'refuse',
    'empty',
    'silent',
    'late',
    'reset',
    'stall',
    'break',
    'end',
    'foreign',
    'fail',
  ),
);

/** The value once in `times` cases. */
const onceIn = <T>(times: number, value: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: times - 1, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: value });

const anyCases: fc.Arbitrary<Case> = fc.record({
  format: fc.constantFrom(...FORMATS),
  dialect: fc.constantFrom(...DIALECTS),
  streams: fc.boolean(),
  works: fc
    .tuple(
      fc.oneof(
        fc.constant([]),
        fc.array(
          work(fc.constantFrom<WorkEnd>('refuse', 'empty', 'silent', 'late', 'reset', 'foreign', 'fail')),
          { maxLength: 2 },
        ),
      ),
      lastWork,
    )
    .map(([before, last]) => [...before, last]),
  leavesAfter: fc.option(fc.nat(12), { freq: 2 }),
  isLimited: fc.boolean(),
  isGuarded: fc.boolean(),
  file: onceIn(
    4,
    fc.record({
      pages: fc.integer({ min: 1, max: 3 }),
      how: fc.constantFrom<ReadingEnd>(
        ...(['read', 'read', 'read', 'read', 'more', 'more'] as const),
        ...(['refuse', 'late', 'nonsense', 'break', 'silent'] as const),
      ),
    }),
  ),
  isModerated: onceIn(6, fc.constant(true)).map((is) => is === true),
  asks: onceIn(
    3,
    fc.record({
      tool: fc.constantFrom(...ASKING_TOOLS),
      dialect: fc.constantFrom(...DIALECTS),
      works: fc.array(lastWork, { minLength: 1, maxLength: 3 }),
    }),
  ),
  races: onceIn(8, fc.constant(true)).map((is) => is === true),
  maxCost: onceIn(6, fc.record({ usd: fc.constantFrom(1e-7, 0.01, 0.2), hard: fc.boolean() })),
  wish: onceIn(3, fc.constantFrom(...WISHES)),
});

/**
 * Input tokens that a tokenizer may make of the prompt, and of a task. Reports of more, and of searches that were not
 * asked for, are taken, but a lost answer is not known to have cost more.
 */
const MOST_INPUT = 700;
const MOST_TASK_INPUT = 8;

const honest = (each: Work): Work => ({
  ...each,
  input: Math.min(each.input, MOST_INPUT),
  searchesOnlyIfAsked: true,
});

const honestTask = (each: Work): Work => ({
  ...honest(each),
  input: MOST_TASK_INPUT,
  cached: 0,
  written: 0,
});

const honestCase = ({ works, asks, ...rest }: Case): Case => ({
  ...rest,
  works: works.map(honest),
  asks: asks && { ...asks, works: asks.works.map(honestTask) },
});

/**
 * A tool is called by the first call that answers: none fails before it. Where the money does not pay for all output
 * that is allowed, a lost answer is written off up to the output that is paid for.
 */
const cases = anyCases
  .map((each) => (each.asks === null ? each : { ...each, works: each.works.slice(-1) }))
  .map((each) => (each.maxCost?.hard === true ? honestCase(each) : each));

const PROMPT = 'word '.repeat(500);

/** A new file each time: texts of files are kept. */
let files = 0;

/** The content of the question: its text, and the file if there is one. */
function contentOf({ format, file }: Case, prompt: string) {
  if (file === null) return prompt;
  const pages = Array.from({ length: file.pages }, (_, page) => `File ${files} page ${page}`);
  const data = pdfOf(...pages).toString('base64');
  files += 1;
  const file_data = `data:application/pdf;base64,${data}`;
  if (format === 'responses') {
    return [
      { type: 'input_text', text: prompt },
      { type: 'input_file', filename: 'a.pdf', file_data },
    ];
  }
  const text = { type: 'text', text: prompt };
  return format === 'chat'
    ? [text, { type: 'file', file: { filename: 'a.pdf', file_data } }]
    : [text, { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } }];
}

/** Tools that the upstream runs itself, as each format has them. */
function hostedToolsOf({ format, works }: Case): object[] {
  const searches = works.some((each) => each.searches > 0);
  const draws = works.some((each) => each.drawn > 0);
  const runsCode = works.some((each) => each.runsCode);
  if (format === 'messages') {
    return [
      ...(searches ? [{ type: 'web_search_20250305', name: 'web_search', max_uses: 4 }] : []),
      ...(runsCode ? [{ type: 'code_execution_20250825', name: 'code_execution' }] : []),
    ];
  }
  if (format === 'chat') return [];
  return [
    ...(searches ? [{ type: 'web_search' }] : []),
    ...(runsCode ? [{ type: 'code_interpreter', container: { type: 'auto' } }] : []),
    ...(draws ? [{ type: 'image_generation', quality: 'low', size: '1024x1024' }] : []),
  ];
}

/** `isHasty`: at providers with short time limits. */
function bodyOf(each: Case, isHasty: boolean, prompt: string) {
  const { format, dialect, streams, file, isModerated, asks, races, maxCost, wish } = each;
  const hasty = isHasty ? '-hasty' : '';
  const hosted = hostedToolsOf(each);
  const tools = [
    ...hosted,
    ...(asks === null
      ? []
      : [{ type: `signalbox:${asks.tool}`, parameters: { model: `task/${asks.dialect}${hasty}` } }]),
  ];
  const plugins = [
    ...(file === null ? [] : [{ id: 'file-parser', pdf: { engine: 'mistral-ocr' } }]),
    ...(isModerated ? [{ id: 'moderation' }] : []),
  ];
  const body = {
    model: `m/${dialect}${hasty}`,
    stream: streams,
    ...(tools.length > 0 && { tools }),
    ...(plugins.length > 0 && { plugins }),
    ...(races && { user: 'race-2' }),
    ...(maxCost !== null && {
      stop_server_tools_when: [{ type: 'max_cost', max_cost_in_dollars: maxCost.usd, hard: maxCost.hard }],
    }),
    ...(wish !== null && { provider: wish.provider }),
  };
  const asked = [{ role: 'user', content: contentOf(each, prompt) }];
  if (format !== 'responses') return { ...body, max_tokens: 4_000, messages: asked };
  return { ...body, max_output_tokens: 4_000, input: asked, ...(hosted.length > 0 && { max_tool_calls: 4 }) };
}

/** True if only time limits, or the caller, end some call of the case. */
const waits = ({ works, asks }: Case): boolean =>
  [...works, ...(asks?.works ?? [])].some(({ how }) => WAITS.has(how));

/** Whether the caller leaves before anything came: only that ends the call of a service that never answers. */
const leavesAtOnce = ({ leavesAfter, file }: Case): boolean => leavesAfter === 0 || file?.how === 'silent';

/** How a case is asked. */
interface Asking {
  readonly key: string;
  /** At providers with short time limits. */
  readonly isHasty: boolean;
  readonly prompt: string;
  /** Resolves when an upstream was called for this request. */
  readonly called: Promise<unknown>;
}

/** The line of an ended generation in the log. */
interface LogLine {
  readonly id: string;
  readonly message: string;
  readonly key_hash: string;
  readonly attempts: number;
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
    gateway = await openTestGateway(configFor(upstream), { env: await env(), stages: [racingStage] });
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

  /** Begins a new bill for the calls of these cases. */
  const prepare = (all: readonly Case[]) => {
    upstream.fake.requests.length = 0;
    upstream.clear();
    upstream.plan(...all.flatMap(({ works }) => works));
    upstream.planTasks(...all.flatMap(({ asks }) => asks?.works ?? []));
    upstream.planReading(all.length === 1 ? (all[0]?.file?.how ?? 'read') : 'read');
  };

  /**
   * Asks, and leaves when the case says so: not before `called`, so that the gateway has the request. Returns the
   * status, or undefined if the caller left before it.
   */
  const ask = async (each: Case, { key, isHasty, prompt, called }: Asking): Promise<number | undefined> => {
    const leaving = new AbortController();
    const { leavesAfter, streams } = each;
    const asking = gateway.fetch(PATHS[each.format], {
      method: 'POST',
      key,
      signal: leaving.signal,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(bodyOf(each, isHasty, prompt)),
    });
    try {
      if (leavesAtOnce(each) || (leavesAfter !== null && !streams)) {
        await Promise.race([called, asking]);
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
      .map((line) => JSON.parse(line) as LogLine)
      .filter(({ message }) => /^generation(?: failed| refused)?$/.test(message));

  const recordOf = async (line: LogLine): Promise<any> => {
    const shown = await gateway.fetch(`/generation?id=${line.id}`);
    // A request that ends before a model is called, refused or left, may have a log line and no record.
    if (shown.status === 404 && line.attempts === 0) {
      return { total_cost: 0, written_off: 0, write_offs: [], charges: [] };
    }
    expect(shown.status, JSON.stringify(line)).toBe(200);
    return ((await shown.json()) as any).data;
  };

  it('for one request, however it ends', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async (each) => {
        prepare([each]);
        const before = recorded().length;
        const { key } = await keyFor(each);
        const called = upstream.fake.request(0);
        await ask(each, { key, isHasty: waits(each), prompt: PROMPT, called });
        await expect.poll(() => recorded().length).toBe(before + 1);
        const record = await recordOf(recorded().at(-1) as LogLine);
        const { total_cost: charged, written_off: writtenOff, write_offs: parts, charges } = record;
        const { calls, billUsd } = upstream;
        const paths = calls.map(({ path }) => path);
        const story = JSON.stringify({ charged, charges, parts, billUsd, calls, each });
        expect(charged + writtenOff, story).toBeGreaterThanOrEqual(billUsd - 1e-9);
        expect(calledAgainst(each, paths), story).toEqual([]);
        expect(sumOf(charges), story).toBeLessThanOrEqual(charged + 1e-9);
        expect(sumOf(charges.filter(({ kind }: any) => kind === 'file_page')), story).toBeCloseTo(
          pagesPaidBy(each, paths),
          9,
        );
        if (each.maxCost?.hard === true) expect(charged, story).toBeLessThanOrEqual(each.maxCost.usd + 1e-9);
        if (isExact(each, paths) && record.cancelled !== true) {
          expect(charged + writtenOff, story).toBeCloseTo(billUsd, 9);
          const all = [...each.works, ...(each.asks?.works ?? [])];
          const isDisputable = all.some(({ searches }) => searches > 0) || each.file?.how === 'more';
          expect(isDisputable || each.maxCost?.hard === true || writtenOff === 0, story).toBe(true);
        }
        expect(writtenOff).toBeCloseTo(
          parts.reduce((sum: number, { cost }: { cost: number }) => sum + cost, 0),
          9,
        );
      }),
      { numRuns: runs(40, 600), endOnFailure: true },
    );
  });

  it('for racing requests of a key with a small limit, whatever their callers do', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(cases.map(honestCase), { minLength: 8, maxLength: 16 }), async (all) => {
        prepare(all);
        const limit = 0.15;
        const { key, hash } = await keyWith(limit);
        const statuses = await Promise.all(
          all.map((each, index) => {
            const mark = `Question ${index}:`;
            const called = upstream.fake.requestWith(mark);
            // Which request gets which work is open, so each may meet one that makes it wait.
            const patient = { ...each, leavesAfter: leavesAtOnce(each) ? 1 : each.leavesAfter };
            return ask(patient, { key, isHasty: true, prompt: `${mark} ${PROMPT}`, called });
          }),
        );
        // A generation is logged a moment after it is settled, and a refused one is logged too.
        const logged = () => recorded().filter(({ key_hash }) => key_hash === hash);
        await expect.poll(() => logged().length).toBe(all.length);
        const records = await Promise.all(logged().map(recordOf));
        const sum = (name: string) => records.reduce((all, record) => all + record[name], 0);
        const charged = sum('total_cost');
        const writtenOff = sum('written_off');
        const shown = (await (await gateway.fetch('/key', { key })).json()) as any;
        const { calls, billUsd } = upstream;
        const rows = records.map(({ id, total_cost, write_offs }) => ({ id, total_cost, write_offs }));
        const story = JSON.stringify({ statuses, charged, writtenOff, billUsd, calls, rows });
        expect(shown.data.usage, story).toBeCloseTo(charged, 9);
        expect(charged, story).toBeLessThanOrEqual(limit + 1e-9);
        expect(billUsd - writtenOff, story).toBeLessThanOrEqual(limit + 1e-9);
        expect(charged + writtenOff, story).toBeGreaterThanOrEqual(billUsd - 1e-9);
      }),
      { numRuns: runs(4, 60), endOnFailure: true },
    );
  });
});

/** Calls of providers that the caller ruled out. */
function calledAgainst({ wish }: Case, called: readonly string[]): readonly string[] {
  return called.filter((path) => wish?.rulesOut.some((part) => path.split('/').includes(part)));
}

const sumOf = (charges: readonly { readonly cost: number }[]): number =>
  charges.reduce((sum, { cost }) => sum + cost, 0);

/** What the pages of the file cost the caller, whatever comes later: all, unless the service did nothing. */
function pagesPaidBy({ file }: Case, called: readonly string[]): number {
  const isRead = called.some((path) => path.endsWith('/ocr')) && file?.how !== 'refuse';
  return isRead ? (file?.pages ?? 0) * BILLED_PRICES.page : 0;
}

/**
 * True if all that is billed is known: answers that were read to their end at the first endpoint. Of them only searches
 * are written off that did not go upstream with the request, which are disputed, and pages beyond those that were paid.
 */
function isExact(each: Case, called: readonly string[]): boolean {
  const { works, isGuarded, asks, races } = each;
  if (works.length !== 1 || isGuarded || races || called.some((path) => path.includes('/outside/')))
    return false;
  return [...works, ...(asks?.works ?? [])].every(({ how }) => how === 'answer' || how === 'slow');
}

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
