import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { type Decoded, decodeJson, decodeProtobuf } from './otlp-decoder.ts';

/** A request as it came, decoded. */
export interface OtlpRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly contentType: string;
  readonly message: Decoded;
}

/** How the receiver answers a request; `null` = never. */
export interface OtlpAnswer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  /** It is taken, and the answer never comes. */
  readonly isLost?: true;
}

/** A receiver of OTLP over HTTP that takes both encodings, decodes strictly and keeps what came. */
export interface OtlpReceiver {
  readonly origin: string;
  /** Requests that were taken, in order. */
  readonly requests: OtlpRequest[];
  /** Requests that came, and what was wrong with those that are not valid. */
  readonly counts: { came: number; readonly faults: string[] };
  /** Answers of requests from now on, by their number from 0; 200 where it gives none. */
  answer(how: (index: number) => OtlpAnswer | null | undefined): void;
  /** All spans that were taken, each with the attributes of its resource. */
  spans(): ReceivedSpan[];
  close(): Promise<void>;
}

/** A span with its attributes as an object. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Record<string, any>;
  readonly events: readonly { readonly name: string; readonly attributes: Record<string, any> }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code?: number; readonly message?: string };
  readonly traceState: string | undefined;
  readonly flags: number;
  readonly resource: Record<string, any>;
}

const MESSAGES: Readonly<Record<string, string>> = {
  '/v1/traces': 'ExportTraceServiceRequest',
  '/v1/metrics': 'ExportMetricsServiceRequest',
  '/v1/logs': 'ExportLogsServiceRequest',
};

export async function openOtlpReceiver(): Promise<OtlpReceiver> {
  const requests: OtlpRequest[] = [];
  const counts = { came: 0, faults: [] as string[] };
  let answerOf: (index: number) => OtlpAnswer | null | undefined = () => undefined;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const answer = answerOf(counts.came);
    counts.came += 1;
    if (answer === null) return;
    if (answer !== undefined && answer.status !== 200) {
      response.writeHead(answer.status, answer.headers).end();
      return;
    }
    try {
      const sent = Buffer.concat(chunks);
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
      const path = request.url ?? '';
      const contentType = request.headers['content-type'] ?? '';
      const message = decodeRequest(path, contentType, body);
      requests.push({ path, headers: request.headers, contentType, message });
      if (answer?.isLost === true) return;
      response.writeHead(200, { 'content-type': contentType }).end(contentType.endsWith('json') ? '{}' : '');
    } catch (error) {
      counts.faults.push(String(error));
      response.writeHead(400).end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    counts,
    answer: (how) => {
      answerOf = how;
    },
    spans: () => requests.flatMap(({ message }) => spansIn(message)),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Takes any path that ends like one of the three signals, as receivers behind a prefix do. */
export function decodeRequest(path: string, contentType: string, body: Buffer): Decoded {
  const message = Object.entries(MESSAGES).find(([end]) => path.endsWith(end))?.[1];
  if (message === undefined) throw new Error(`nothing is at ${path}`);
  if (contentType === 'application/json') return decodeJson(message, JSON.parse(body.toString('utf8')));
  if (contentType === 'application/x-protobuf') return decodeProtobuf(message, body);
  throw new Error(`${contentType} is no encoding of OTLP`);
}

export function spansIn({ resourceSpans = [] }: Decoded): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }: Decoded) =>
    scopeSpans.flatMap(({ spans }: Decoded) =>
      spans.map((span: Decoded) => ({
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId,
        name: span.name,
        kind: span.kind,
        startMs: Number(BigInt(span.startTimeUnixNano) / 1_000n) / 1_000,
        endMs: Number(BigInt(span.endTimeUnixNano) / 1_000n) / 1_000,
        attributes: membersOf(span.attributes),
        events: (span.events ?? []).map((event: Decoded) => ({
          name: event.name,
          attributes: membersOf(event.attributes),
        })),
        links: span.links ?? [],
        status: span.status ?? {},
        traceState: span.traceState,
        flags: span.flags ?? 0,
        resource: membersOf(resource.attributes),
      })),
    ),
  );
}

/** Attributes as an object. */
export function membersOf(list: readonly Decoded[] = []): Record<string, any> {
  return Object.fromEntries(list.map(({ key, value }) => [key, plainValue(value)]));
}

export function plainValue(value: Decoded): any {
  const [[kind, content] = ['none', null]] = Object.entries(value);
  if (kind === 'intValue') return Number(content);
  if (kind === 'arrayValue') return (content.values ?? []).map(plainValue);
  return kind === 'kvlistValue' ? membersOf(content.values) : content;
}
