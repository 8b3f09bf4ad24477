import { Agent, createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DialectName } from '../../src/ir/items.ts';
import type { Frame } from '../../src/kit/frames/frames.ts';
import type { JsonObject } from '../../src/kit/json/json.ts';
import { openTestGateway, type TestGateway } from '../e2e/harness.ts';
import { awsEvent } from '../fixtures/bedrock/aws-events.ts';
import type { WireAnswer } from '../matrix/answers/wire-answer.ts';
import { UPSTREAMS } from '../matrix/verdict.ts';

/** What an upstream received. */
export interface Received {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: JsonObject;
}

/** What a caller got. */
export interface Reply {
  readonly status: number;
  readonly text: string;
  /** What the upstream received on the way; undefined if it was not called. */
  readonly received: Received | undefined;
}

/** A way through the gateway for one request at a time, with an upstream of each dialect at its end. */
export interface Lane {
  send(
    path: string,
    upstream: DialectName,
    body: JsonObject,
    answer: WireAnswer,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Reply>;
}

/** One gateway with lanes that are used at the same time. */
export interface Lanes {
  readonly lanes: readonly Lane[];
  close(): Promise<void>;
}

const DIALECTS: Readonly<Record<DialectName, { readonly word: string; readonly model: string }>> = {
  messages: { word: 'anthropic-messages', model: 'claude-large' },
  responses: { word: 'openai-responses', model: 'gpt-large' },
  chat: { word: 'openai-chat', model: 'large' },
  gemini: { word: 'google-gemini', model: 'gemini-3-flash' },
  bedrock: { word: 'aws-bedrock', model: 'anthropic.claude-large-v1:0' },
};

/** A fast path for thousands of requests: connections are kept, and only what the judges read is recorded. */
export async function openLanes(count: number): Promise<Lanes> {
  const received: (Received | undefined)[] = [];
  const answers: WireAnswer[] = [];
  const server = createServer(async (message, response) => {
    const lane = Number(/^\/(\d+)\//.exec(message.url ?? '')?.[1]);
    const body = JSON.parse(await textOf(message)) as JsonObject;
    received[lane] = { headers: message.headers, body };
    const answer = answers[lane];
    if (answer === undefined) throw new Error('a request came before its answer');
    const isStream = body.stream === true || /stream/i.test(message.url ?? '');
    const isBinary = /converse-stream/.test(message.url ?? '');
    const type = isBinary
      ? 'application/vnd.amazon.eventstream'
      : isStream
        ? 'text/event-stream'
        : 'application/json';
    response.writeHead(200, { 'content-type': type });
    response.end(
      isBinary ? binary(answer.frames) : isStream ? sse(answer.frames) : JSON.stringify(answer.body),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const numbers = Array.from({ length: count }, (_, index) => index);
  const config = {
    providers: numbers.flatMap((lane) =>
      UPSTREAMS.map((upstream) => ({
        slug: `lane-${lane}-${upstream}`,
        dialect: DIALECTS[upstream].word,
        base_url: `http://127.0.0.1:${port}/${lane}/v1`,
        api_key: 'k',
      })),
    ),
    models: ['other', 'another']
      .map((name) => ({
        id: `acme/${name}`,
        endpoints: [{ provider: 'lane-0-messages', model: name }],
      }))
      .concat(
        numbers.flatMap((lane) =>
          UPSTREAMS.map((upstream) => ({
            id: modelOf(lane, upstream),
            context_length: 1_000_000,
            max_output_tokens: 64_000,
            input_modalities: ['text', 'image', 'file', 'audio', 'video'],
            output_modalities: ['text', 'image', 'audio'],
            reasoning: { mandatory: false, default_enabled: true },
            endpoints: [{ provider: `lane-${lane}-${upstream}`, model: DIALECTS[upstream].model }],
          })),
        ),
      ),
  };
  const gateway = await openTestGateway(config, { logLevel: 'error' });
  const agent = new Agent({ keepAlive: true, maxSockets: count });
  return {
    lanes: numbers.map((lane) => ({
      async send(path, upstream, body, answer, headers = {}) {
        received[lane] = undefined;
        answers[lane] = answer;
        const sent = { ...body, model: modelOf(lane, upstream) };
        const { status, text } = await post(gateway, agent, path, sent, headers);
        return { status, text, received: received[lane] };
      },
    })),
    async close() {
      agent.destroy();
      await gateway.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function modelOf(lane: number, upstream: DialectName): string {
  return `lane-${lane}/${upstream}`;
}

function post(
  gateway: TestGateway,
  agent: Agent,
  path: string,
  body: JsonObject,
  headers: Readonly<Record<string, string>>,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${gateway.url}${path}`,
      {
        method: 'POST',
        agent,
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${gateway.apiKey}`,
          'x-signalbox-metadata': 'enabled',
          ...headers,
        },
      },
      (response) => {
        textOf(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
      },
    );
    request.on('error', reject);
    request.end(JSON.stringify(body));
  });
}

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function sse(frames: readonly Frame[]): string {
  return frames
    .map(({ event, data }) => `${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`)
    .join('');
}

function binary(frames: readonly Frame[]): Buffer {
  return Buffer.concat(frames.map(({ event, data }) => awsEvent(event ?? '', JSON.parse(data))));
}
