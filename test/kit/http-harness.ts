import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Catalog, Endpoint, Model, Provider } from '../../src/catalog/catalog.ts';
import type { ReadinessParts } from '../../src/contract/envelopes/health.ts';
import { chat } from '../../src/dialects/chat/index.ts';
import { decisions } from '../../src/dialects/decisions/index.ts';
import type { InboundDialect, ReplyContext } from '../../src/dialects/dialect.ts';
import { embeddings } from '../../src/dialects/embeddings/index.ts';
import { messages } from '../../src/dialects/messages/index.ts';
import { responses } from '../../src/dialects/responses/index.ts';
import type { Gateway } from '../../src/gateway/gateway.ts';
import type { GenerationInput } from '../../src/gateway/request/generation-input.ts';
import type { HttpDependencies, HttpSettings } from '../../src/http/dependencies.ts';
import { createHttpServer, type HttpServer } from '../../src/http/http-server.ts';
import type { Event, EventBatch, Settled } from '../../src/ir/events.ts';
import type { RequestFormat } from '../../src/ir/items.ts';
import { NO_USAGE } from '../../src/ir/usage.ts';
import { randomIds } from '../../src/kit/ids.ts';
import type { JsonObject } from '../../src/kit/json/json.ts';
import { parsePrice } from '../../src/kit/money.ts';
import { systemClock } from '../../src/kit/time/clock.ts';
import type { Caller } from '../../src/ports/tenancy/caller.ts';
import { NO_STATISTICS } from '../../src/routing/health/measurements.ts';
import { NOTHING_SPENT } from '../../src/store/ledger/books/spending.ts';
import { MemoryLimiter } from '../../src/store/rate-limits/memory-limiter.ts';
import { callerOf } from './builders/tenancy.ts';

export const PLAIN_KEY = 'sk-test-plain';
export const MANAGEMENT_KEY = 'sk-test-management';
export const ACCOUNT = '7a0c3b1e-0000-4000-8000-000000000001';

const INBOUND: Record<RequestFormat, InboundDialect> = {
  embeddings: embeddings.inbound,
  decisions: decisions.inbound,
  compaction: responses.compaction.inbound,
  responses: responses.inbound,
  messages: messages.inbound,
  chat: chat.inbound,
};

export const SETTLED: Settled = {
  usage: { ...NO_USAGE, inputTokens: 3, outputTokens: 2, source: 'measured' },
  bill: { totalNanos: 5000n, inputNanos: 2000n, outputNanos: 3000n, isByok: false },
};

/** A whole answer, as one batch of events. */
export function answerEvents(text: string): Event[] {
  return [...openEvents(text), ...closeEvents()];
}

/** An answer up to its first text. */
export function openEvents(text: string): Event[] {
  return [
    { type: 'start' },
    { type: 'item-start', item: 0, head: { type: 'message' } },
    { type: 'part-start', item: 0, part: 0, kind: 'text' },
    { type: 'text-delta', item: 0, part: 0, kind: 'text', text },
  ];
}

export function closeEvents(): Event[] {
  return [
    { type: 'part-end', item: 0, part: 0, kind: 'text' },
    { type: 'item-end', item: 0, status: 'completed' },
    { type: 'finish', reason: 'stop', settled: SETTLED },
  ];
}

export function delta(text: string): Event {
  return { type: 'text-delta', item: 0, part: 0, kind: 'text', text };
}

export function contextOf(input: GenerationInput): ReplyContext {
  return {
    vendor: 'signalbox',
    request: INBOUND[input.format].parseRequest(input.body, { vendor: 'signalbox' }),
    generationId: input.generationId,
    createdAtMs: input.acceptedAtMs,
    now: () => Date.now(),
    model: 'acme/large',
    provider: 'Acme',
    serviceTier: 'default',
  };
}

/** A gateway that answers `hello`; tests replace what they want to see. */
export function fakeGateway(changes: Partial<Gateway> = {}): Gateway {
  return {
    modelsFor: async () => CATALOG.models,
    serviceOf: () => ({ ...NO_STATISTICS, state: 'ok' }),
    explain: async () => {
      throw new Error('nothing to explain');
    },
    stream: async (input) => ({ context: contextOf(input), batches: batchesOf([answerEvents('hello')]) }),
    complete: async (input) => ({
      context: contextOf(input),
      result: {
        items: [
          {
            type: 'message',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'text', text: 'hello' }],
          },
        ],
        finish: { type: 'finish', reason: 'stop', settled: SETTLED },
        usage: SETTLED.usage,
        settled: SETTLED,
      },
    }),
    countTokens: async () => 42,
    callTool: async () => ({ blocks: [{ type: 'text', text: 'hello' }], isError: false }),
    passedTools: async (_input, tools) => tools,
    contextWithoutEndpoint: contextOf,
    settled: async () => {},
    ...changes,
  };
}

export async function* batchesOf(batches: readonly EventBatch[]): AsyncGenerator<EventBatch, void, void> {
  yield* batches;
}

function caller(secret: string, isManagement: boolean): Caller {
  return callerOf({ hash: secret, accountId: ACCOUNT, name: secret, label: 'sk-...test', isManagement });
}

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>> | undefined;
}

export interface Running {
  readonly server: HttpServer;
  /** For a server that was started `notReady`. */
  becomeReady(): Promise<void>;
  readonly port: number;
  readonly log: LogLine[];
  /** Secrets that were looked up. */
  readonly lookups: string[];
}

const OK = { status: 'ok' } as const;
const ALL_OK: ReadinessParts = { ledger: OK, store: OK, events: OK, providers: OK };

export interface Options {
  readonly readiness?: ReadinessParts;
  readonly gateway?: Partial<Gateway>;
  readonly settings?: Partial<HttpSettings>;
  readonly times?: HttpDependencies['times'];
  readonly catalog?: Catalog;
  readonly generations?: HttpDependencies['generations'];
  readonly files?: HttpDependencies['files'];
  readonly rankings?: HttpDependencies['rankings'];
  readonly analytics?: HttpDependencies['analytics'];
  readonly notReady?: boolean;
}

const running: HttpServer[] = [];

/** Starts a server on a free port; `stopServers` ends all of them. */
export async function startServer(options: Options = {}): Promise<Running> {
  const log: LogLine[] = [];
  const lookups: string[] = [];
  const at =
    (level: string) =>
    (message: string, fields?: Readonly<Record<string, unknown>>): void => {
      log.push({ level, message, fields });
    };
  const callers = new Map([
    [PLAIN_KEY, caller(PLAIN_KEY, false)],
    [MANAGEMENT_KEY, caller(MANAGEMENT_KEY, true)],
  ]);
  const keys: Pick<HttpDependencies['keys'], 'statementOf'> = {
    statementOf: async (key) => ({ key, spending: NOTHING_SPENT, remainingNanos: null }),
  };
  const server = createHttpServer({
    metrics: async () => '',
    settings: () => ({
      vendor: 'signalbox',
      basePath: '/api/v1',
      maxBodyBytes: 1_000_000,
      requestDeadlineMs: 10_000,
      maxConcurrentRequests: 100,
      largeBodiesBytes: 100_000_000,
      cors: undefined,
      trustedProxies: [],
      areMetricsPublic: false,
      shownKeyLimits: 0,
      rates: {
        perKey: { minute: null, day: null },
        tokensPerKey: { minute: null, day: null },
        analyticsPerMinute: 64,
        datasets: { minute: 30, day: 500 },
      },
      ...options.settings,
    }),
    ids: randomIds,
    lazySchemas: true,
    clock: systemClock,
    log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    ...(options.times !== undefined && { times: options.times }),
  });
  const { port } = await server.listen('127.0.0.1', 0);
  const becomeReady = () =>
    server.serve({
      catalog: () => options.catalog ?? CATALOG,
      callers: {
        find: async (secret) => {
          lookups.push(secret);
          return callers.get(secret);
        },
        refusedKey: () => ({ hash: '', owner: undefined }),
      },
      sessions: {} as HttpDependencies['sessions'],
      gateway: fakeGateway(options.gateway),
      refusals: { note: () => {}, noteKey: () => {}, takeOverloaded: () => false },
      limiter: new MemoryLimiter(systemClock),
      mcp: {
        serverInfo: { name: 'signalbox', version: '1' },
        of: async () => [],
        named: async () => undefined,
      },
      byok: {} as HttpDependencies['byok'],
      guardrails: {} as HttpDependencies['guardrails'],
      guardrailAssignments: {} as HttpDependencies['guardrailAssignments'],
      destinations: {} as HttpDependencies['destinations'],
      classifiers: {} as HttpDependencies['classifiers'],
      classifierRuns: {} as HttpDependencies['classifierRuns'],
      classifierTrials: {} as HttpDependencies['classifierTrials'],
      keys: keys as HttpDependencies['keys'],
      workspaces: {} as HttpDependencies['workspaces'],
      budgets: {} as HttpDependencies['budgets'],
      credits: {} as HttpDependencies['credits'],
      files: options.files ?? ({} as HttpDependencies['files']),
      rankings: options.rankings ?? ({} as HttpDependencies['rankings']),
      operatorViews: {} as HttpDependencies['operatorViews'],
      analyticsWarning: () => null,
      analytics: options.analytics ?? ({} as HttpDependencies['analytics']),
      activity: {} as HttpDependencies['activity'],
      overview: {} as HttpDependencies['overview'],
      readiness: () => options.readiness ?? ALL_OK,
      firstAccountId: '',
      conversations: {} as HttpDependencies['conversations'],
      generationLog: {} as HttpDependencies['generationLog'],
      runningGenerations: {} as HttpDependencies['runningGenerations'],
      generations: options.generations ?? ({} as HttpDependencies['generations']),
    });
  if (options.notReady !== true) await becomeReady();
  running.push(server);
  return { server, becomeReady, port, log, lookups };
}

/** Number of refused requests, by reason of the overload. */
export function turnedAway({ metrics }: HttpServer): Record<string, number> {
  const family = metrics.families.find(({ name }) => name === 'signalbox_generations_turned_away_total');
  const samples = [...(family?.samples() ?? [])];
  return Object.fromEntries(samples.map(({ labels, value }) => [labels.reason, Number(value)]));
}

export async function stopServers(): Promise<void> {
  await Promise.all(running.splice(0).map((server) => server.drain(0)));
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; undefined when it is none. */
  readonly json: any;
}

export interface Question {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string | string[]>;
  /** Sent as it is; anything but text is written as JSON, with its content type. */
  readonly body?: unknown;
  readonly key?: string;
  /** Called with all of the body that has come by then, each time that more comes. */
  readonly onText?: (text: string) => void;
}

/** One request on its own connection. */
export function ask(port: number, question: Question): Promise<Answer> {
  const { path, headers = {}, body, key } = question;
  const isText = typeof body === 'string' || Buffer.isBuffer(body);
  const payload = body === undefined ? undefined : isText ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        host: '127.0.0.1',
        port,
        path,
        method: question.method ?? (payload === undefined ? 'GET' : 'POST'),
        agent: false,
        headers: {
          ...(payload !== undefined && !isText && { 'Content-Type': 'application/json' }),
          ...(payload !== undefined &&
            headers['Transfer-Encoding'] === undefined && {
              'Content-Length': String(Buffer.byteLength(payload)),
            }),
          ...(key !== undefined && { Authorization: `Bearer ${key}` }),
          ...headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          question.onText?.(Buffer.concat(chunks).toString('utf8'));
        });
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            json: parsed(text),
          });
        });
      },
    );
    request.on('error', reject);
    request.end(payload);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Writes bytes to a new connection and reads until the server closes it, or `forMs` have passed. */
export function rawExchange(
  port: number,
  bytes: string,
  forMs = 60_000,
): Promise<{ text: string; closed: boolean }> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
    let text = '';
    let closed = false;
    const timer = setTimeout(() => socket.destroy(), forMs);
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('end', () => {
      closed = true;
    });
    socket.on('error', reject);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve({ text, closed });
    });
  });
}

/** The JSON body of the last response in raw bytes. */
export function rawBody(text: string): any {
  return JSON.parse(text.slice(text.lastIndexOf('\r\n\r\n') + 4));
}

/** A connection that stays open, with the bytes read so far. */
export async function openSocket(port: number): Promise<{ socket: Socket; read: () => string }> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    text += chunk;
  });
  socket.on('error', () => {});
  await new Promise((resolve) => socket.once('connect', resolve));
  return { socket, read: () => text };
}

/** Waits until a condition holds. Gives up before the test itself does, so that the message says what it waited for. */
export async function until(holds: () => boolean, what: string): Promise<void> {
  const deadline = Date.now() + 90_000;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(`never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export const RESPONSES_BODY: JsonObject = { model: 'acme/large', input: 'hi' };
export const MESSAGES_BODY: JsonObject = {
  model: 'acme/large',
  max_tokens: 10,
  messages: [{ role: 'user', content: 'hi' }],
};
export const CHAT_BODY: JsonObject = { model: 'acme/large', messages: [{ role: 'user', content: 'hi' }] };

export const ACME: Provider = {
  slug: 'acme',
  name: 'Acme',
  dialect: 'chat',
  baseUrl: 'http://upstream.invalid/v1',
  credential: { kind: 'key', key: 'upstream-secret' },
  headers: {},
  auth: 'bearer',
  dataPolicy: { training: false, retainsPrompts: false },
  timeouts: { connect: 1, firstByte: 1, idle: 1, total: 1 },
  quirks: {},
  isPublic: false,
};

const BOLT: Provider = { ...ACME, slug: 'bolt', name: 'Bolt', dataPolicy: undefined };

function endpoint(modelId: string, provider: Provider, prompt: string, completion: string): Endpoint {
  return {
    provider,
    modelId,
    upstreamModel: 'upstream-name',
    tag: provider.slug,
    site: `${modelId} ${provider.slug}`,
    quantization: 'fp8',
    contextLength: undefined,
    maxOutputTokens: 1000,
    supportedParameters: new Set(['temperature', 'tools', 'zeta']),
    pricing: {
      prompt: parsePrice(prompt) ?? 0n,
      completion: parsePrice(completion) ?? 0n,
      discount: parsePrice('0.25') ?? 0n,
    },
  };
}

function model(id: string, created: number, changes: Partial<Model>): Model {
  return {
    id,
    name: `Name of ${id}`,
    description: `What ${id} is for`,
    created,
    contextLength: 100_000,
    maxOutputTokens: 8_000,
    inputModalities: ['text'],
    outputModalities: ['text'],
    aliases: [],
    quality: {},
    distillable: false,
    endpoints: [],
    ...changes,
  };
}

const NOW_SECONDS = Math.floor(Date.now() / 1000);

const MODELS: readonly Model[] = [
  model('acme/large', NOW_SECONDS - 10 * 86_400, {
    inputModalities: ['text', 'image'],
    aliases: ['acme/latest'],
    distillable: true,
    endpoints: [endpoint('acme/large', ACME, '0.000001', '0.000004')],
  }),
  model('acme/painter', NOW_SECONDS - 400 * 86_400, {
    outputModalities: ['image'],
    endpoints: [endpoint('acme/painter', ACME, '0.000002', '0.000002')],
  }),
  model('bolt/small', NOW_SECONDS - 100 * 86_400, {
    contextLength: 8_000,
    endpoints: [
      { ...endpoint('bolt/small', BOLT, '0.0000001', '0.0000004'), supportedParameters: undefined },
    ],
  }),
];

export const CATALOG: Catalog = {
  models: MODELS,
  providers: [ACME, BOLT],
  withEveryProvider: () => CATALOG,
  resolve: (id) => MODELS.find((entry) => entry.id === id || entry.aliases.includes(id)),
};
