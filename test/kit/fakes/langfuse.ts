import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeRequest, type ReceivedSpan, spansIn } from './otlp-receiver.ts';

/** An observation, as the documents of Langfuse say that it is made of a span. */
export interface Observation {
  readonly id: string;
  readonly traceId: string;
  readonly parentId: string | undefined;
  readonly name: string;
  readonly type: 'generation' | 'embedding' | 'tool' | 'span';
  readonly level: 'DEFAULT' | 'ERROR';
  readonly statusMessage: string | undefined;
  readonly model: string | undefined;
  readonly input: unknown;
  readonly output: unknown;
  readonly usage: Readonly<Record<string, number>>;
  readonly cost: number | undefined;
}

/** A trace, with what spans of it say of the whole. */
export interface Trace {
  readonly id: string;
  readonly name: string | undefined;
  readonly userId: string | undefined;
  readonly sessionId: string | undefined;
  /** What traces can be filtered by. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly observations: readonly Observation[];
}

/** An endpoint that takes OTLP as Langfuse documents it: Basic auth, both encodings, whole counts as usage. */
export interface FakeLangfuse {
  readonly origin: string;
  /** What was wrong with requests that were refused. */
  readonly refusals: string[];
  /** Versions of the ingestion that requests asked for. */
  readonly versions: (string | undefined)[];
  trace(id: string): Trace | undefined;
  close(): Promise<void>;
}

const PATH = '/api/public/otel/v1/traces';

export async function openFakeLangfuse(publicKey: string, secretKey: string): Promise<FakeLangfuse> {
  const spans = new Map<string, ReceivedSpan>();
  const refusals: string[] = [];
  const versions: (string | undefined)[] = [];
  const authorization = `Basic ${Buffer.from(`${publicKey}:${secretKey}`).toString('base64')}`;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const refuse = (status: number, reason: string) => {
      refusals.push(reason);
      response.writeHead(status).end();
    };
    if (request.url !== PATH || request.method !== 'POST') {
      return refuse(404, `${request.method} ${request.url}`);
    }
    if (request.headers.authorization !== authorization) return refuse(401, 'wrong keys');
    try {
      const received = spansIn(
        decodeRequest(PATH, request.headers['content-type'] ?? '', Buffer.concat(chunks)),
      );
      for (const span of received) usageOf(span);
      for (const span of received) spans.set(span.spanId, span);
      versions.push(request.headers['x-langfuse-ingestion-version'] as string | undefined);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    } catch (error) {
      refuse(400, String(error));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refusals,
    versions,
    trace: (id) =>
      traceOf(
        id,
        [...spans.values()].filter(({ traceId }) => traceId === id),
      ),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function traceOf(id: string, spans: readonly ReceivedSpan[]): Trace | undefined {
  if (spans.length === 0) return undefined;
  const first = (...names: string[]): string | undefined =>
    names.flatMap((name) => spans.flatMap(({ attributes }) => attributes[name] ?? []))[0];
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const root = spans.find(({ parentSpanId = '' }) => !ids.has(parentSpanId));
  return {
    id,
    name: first('langfuse.trace.name') ?? root?.name,
    userId: first('langfuse.user.id', 'user.id'),
    sessionId: first('langfuse.session.id', 'session.id'),
    metadata: Object.fromEntries(
      spans
        .flatMap(({ attributes }) => Object.entries(attributes))
        .filter(([name]) => name.startsWith(METADATA))
        .map(([name, value]) => [name.slice(METADATA.length), value]),
    ),
    observations: spans.map(observationOf),
  };
}

const METADATA = 'langfuse.trace.metadata.';

const TYPES: Readonly<Record<string, Observation['type']>> = {
  chat: 'generation',
  text_completion: 'generation',
  embeddings: 'embedding',
  execute_tool: 'tool',
};

function observationOf(span: ReceivedSpan): Observation {
  const { attributes, status } = span;
  const model = attributes['gen_ai.response.model'] ?? attributes['gen_ai.request.model'];
  return {
    id: span.spanId,
    traceId: span.traceId,
    parentId: span.parentSpanId,
    name: span.name,
    type: TYPES[attributes['gen_ai.operation.name']] ?? (model === undefined ? 'span' : 'generation'),
    level: status.code === 2 ? 'ERROR' : 'DEFAULT',
    statusMessage: status.message,
    model,
    input: messagesIn(attributes['gen_ai.input.messages']),
    output: messagesIn(attributes['gen_ai.output.messages']),
    usage: usageOf(span),
    cost: attributes['gen_ai.usage.cost'],
  };
}

function messagesIn(text: string | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text);
}

const USAGE = 'gen_ai.usage.';
const USAGE_NAMES: Readonly<Record<string, string>> = {
  input_tokens: 'input',
  output_tokens: 'output',
  total_tokens: 'total',
};

/** All that is below the prefix is a count, except the cost. Throws for a count that is not whole. */
function usageOf({ attributes }: ReceivedSpan): Record<string, number> {
  const counts = Object.entries(attributes)
    .filter(([name]) => name.startsWith(USAGE) && name !== `${USAGE}cost`)
    .map(([name, value]) => {
      if (!Number.isInteger(value) || value < 0) throw new Error(`${name} is no count`);
      const short = name.slice(USAGE.length);
      return [USAGE_NAMES[short] ?? short, value as number] as const;
    });
  return Object.fromEntries(counts);
}
