import { setTimeout as sleep } from 'node:timers/promises';
import { BILLED_WIRES } from './billed-wires.ts';
import {
  BILLED_DIALECTS,
  BILLED_PRICES,
  type BilledDialect,
  billOf,
  type Done,
  PAGES_BEYOND,
  type ReadingEnd,
  SLOW_MS,
  TASK,
  type Work,
  type WorkEnd,
} from './billed-work.ts';
import {
  end,
  type FakeUpstream,
  head,
  JSON_TYPE,
  never,
  openFakeUpstream,
  type RecordedRequest,
  reply,
  reset,
  type Step,
  stall,
  stepsOf,
  write,
} from './fake-upstream.ts';

/**
 * An upstream of all dialects, and a service that reads pages and judges texts. It keeps its own bill: every call that
 * arrives is worked on and billed whole, whether the answer is read or not. Judging costs nothing.
 */
export interface BilledUpstream {
  readonly fake: FakeUpstream;
  /** Base address for a provider of a dialect; `place` is a part of it, to tell providers apart. */
  urlOf(dialect: BilledDialect, place?: string): string;
  /** Base address for the service. */
  readonly serviceUrl: string;
  /** Chooses the work of the following calls, in order; the last one stays. */
  plan(...works: Work[]): void;
  /** The same for models that tools ask. Without it their work is that of all calls. */
  planTasks(...works: Work[]): void;
  /** How the service goes from now on. At first it reads. */
  planReading(how: ReadingEnd): void;
  /** Calls so far, in the order of their arrival. */
  readonly calls: readonly BilledCall[];
  /** USD that all calls so far have cost. */
  readonly billUsd: number;
  /** Forgets the bill. */
  clear(): void;
  close(): Promise<void>;
}

export interface BilledCall {
  readonly path: string;
  readonly how: WorkEnd | ReadingEnd | 'judge';
  readonly usd: number;
}

export async function openBilledUpstream(): Promise<BilledUpstream> {
  const fake = await openFakeUpstream();
  let works: Work[] = [];
  let taskWorks: Work[] = [];
  let reading: ReadingEnd = 'read';
  let calls: BilledCall[] = [];
  const bill = ({ path }: RecordedRequest, how: BilledCall['how'], usd: number) =>
    calls.push({ path, how, usd });
  fake.answer((request) => {
    const service = serviceOf(request);
    if (service === 'judge') {
      bill(request, 'judge', 0);
      return stepsOf(UNFLAGGED, request);
    }
    if (service === 'pages') {
      const pages = request.json.pages.length + (reading === 'more' ? PAGES_BEYOND : 0);
      bill(request, reading, reading === 'refuse' ? 0 : pages * BILLED_PRICES.page);
      return stepsOf(readingSteps(reading, pages), request);
    }
    const queue = isTask(request) && taskWorks.length > 0 ? taskWorks : works;
    const work = queue.length > 1 ? queue.shift() : queue[0];
    if (work === undefined) throw new Error('the upstream was given no work');
    const dialect = dialectOf(request);
    const streams = isStream(request, dialect);
    const done = doneOf(work, dialect, request);
    bill(request, work.how, !streams && isErrorBody(work, dialect) ? 0 : billOf(done));
    return stepsFor(dialect, done, streams);
  });
  return {
    fake,
    urlOf: (dialect, place = 'any') => `${fake.url}/${dialect}/${place}`,
    serviceUrl: `${fake.url}/service`,
    plan: (...planned) => {
      works = planned;
    },
    planTasks: (...planned) => {
      taskWorks = planned;
    },
    planReading: (how) => {
      reading = how;
    },
    get calls() {
      return calls;
    },
    get billUsd() {
      return calls.reduce((sum, { usd }) => sum + usd, 0);
    },
    clear() {
      calls = [];
    },
    close: () => fake.close(),
  };
}

/**
 * The work as far as the dialect reports it, and the tools and the output limit of the request allow it. Two of the
 * dialects search.
 */
function doneOf(work: Work, dialect: BilledDialect, request: RecordedRequest): Done {
  const limit = outputLimitOf(request);
  const visible = Math.min(work.visible, limit);
  const has = (kind: RegExp) =>
    request.json?.tools?.some?.(({ type }: { type?: string }) => kind.test(type ?? ''));
  const canSearch = dialect === 'messages' || dialect === 'responses';
  const searches = canSearch && (work.searchesOnlyIfAsked !== true || has(/^web_search/));
  const tool = taskToolOf(request);
  return {
    ...work,
    visible,
    hidden: Math.min(work.hidden, limit - visible),
    cached: dialect === 'bedrock' ? 0 : work.cached,
    written: dialect === 'gemini' || dialect === 'bedrock' ? 0 : work.written,
    searches: searches ? work.searches : 0,
    drawn: has(/^image_generation$/) ? work.drawn : 0,
    runsCode: work.runsCode && has(/^code_(?:interpreter|execution)/) === true,
    tasks: tool === undefined || !answers(work) ? 0 : work.tasks,
    tool: tool ?? '',
  };
}

const answers = ({ how }: Work): boolean => how === 'answer' || how === 'slow';

function outputLimitOf({ json }: RecordedRequest): number {
  const { max_tokens, max_completion_tokens, max_output_tokens, generationConfig, inferenceConfig } = json;
  return (
    max_tokens ??
    max_completion_tokens ??
    max_output_tokens ??
    generationConfig?.maxOutputTokens ??
    inferenceConfig?.maxTokens ??
    Number.POSITIVE_INFINITY
  );
}

/** The tool that a request offers for asking another model, unless it was called before. */
function taskToolOf(request: RecordedRequest): string | undefined {
  if (request.body.includes(TASK)) return undefined;
  return /"name":"(subagent|advisor|image_generation)"/.exec(request.body)?.[1];
}

/** True for the call of a model that a tool asks: it knows the task, and is offered no tool. */
function isTask({ body }: RecordedRequest): boolean {
  return body.includes(TASK) && !/"name":"(?:subagent|advisor|image_generation)"/.test(body);
}

/** True if a whole answer is an error and nothing else, which costs nothing. */
function isErrorBody({ how }: Work, dialect: BilledDialect): boolean {
  return how === 'fail' && dialect !== 'responses';
}

function dialectOf({ path }: RecordedRequest): BilledDialect {
  const [, , name] = path.split('/');
  if (name === undefined || !(name in BILLED_DIALECTS)) throw new Error(`no dialect at ${path}`);
  return name as BilledDialect;
}

function serviceOf({ path }: RecordedRequest): 'pages' | 'judge' | undefined {
  if (path.endsWith('/service/ocr')) return 'pages';
  return path.endsWith('/service/moderations') ? 'judge' : undefined;
}

function isStream({ path, json }: RecordedRequest, dialect: BilledDialect): boolean {
  if (dialect === 'gemini') return path.includes(':streamGenerateContent');
  if (dialect === 'bedrock') return path.endsWith('/converse-stream');
  return json?.stream === true;
}

const LATE = [head(504, JSON_TYPE), write('{"error":{"message":"late"}}'), end()];

const UNFLAGGED = (request: RecordedRequest): readonly Step[] => {
  const results = [request.json.input].flat().map(() => ({ flagged: false, categories: {} }));
  return stepsOf(reply(200, { results }), request);
};

function readingSteps(how: ReadingEnd, pages: number) {
  if (how === 'refuse') return reply(500, {});
  if (how === 'late') return LATE;
  if (how === 'nonsense') return reply(200, {});
  if (how === 'break') return [head(200, JSON_TYPE), write('{"pages":'), reset()];
  if (how === 'silent') return [never()];
  const read = Array.from({ length: pages }, (_, index) => ({ index, markdown: `Page ${index}` }));
  return reply(200, { pages: read, usage_info: { pages_processed: pages } });
}

/** Milliseconds between two frames, so that a caller can leave between them. */
const FRAME_GAP_MS = 2;

function stepsFor(dialect: BilledDialect, work: Done, streams: boolean): readonly Step[] {
  const { how } = work;
  if (how === 'slow') return [stall(SLOW_MS), ...stepsFor(dialect, { ...work, how: 'answer' }, streams)];
  if (how === 'silent') return [never()];
  if (how === 'late') return LATE;
  if (how === 'reset') return [reset()];
  const wire = BILLED_WIRES[dialect];
  if (!streams) {
    if (how === 'stall') return [head(200, JSON_TYPE), never()];
    if (how === 'break') return [head(200, JSON_TYPE), write('{"'), reset()];
    if (how === 'end') return [head(200, JSON_TYPE), write('{"'), end()];
    if (how === 'foreign') return [head(200, JSON_TYPE), write('{"result":"no answer"}'), end()];
    const body = isErrorBody(work, dialect)
      ? { error: { code: 500, message: 'it failed' } }
      : wire.body(work);
    return [head(200, JSON_TYPE), write(JSON.stringify(body)), end()];
  }
  const { beginning, ending, failing } = wire.frames(work);
  if (how === 'foreign') return [head(200, wire.head), write('data: {"no":"JSON\n\n'), end()];
  const isCut = how === 'stall' || how === 'break' || how === 'end';
  const all = isCut ? beginning : [...beginning, ...(how === 'fail' ? failing : ending)];
  const frames = all.flatMap((frame) => [write(frame), () => sleep(FRAME_GAP_MS)]);
  const last = how === 'stall' ? never() : how === 'break' ? reset() : end();
  return [head(200, wire.head), ...frames, last];
}
