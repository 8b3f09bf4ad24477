import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { DialectName } from '../../../src/ir/items.ts';
import type { Frame } from '../../../src/kit/frames/frames.ts';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { awsEvent } from '../../kit/fixtures/bedrock/aws-events.ts';
import { PROGRAM } from '../../kit/program.ts';
import type { WireAnswer } from '../matrix/answers/wire-answer.ts';
import type { Upstream } from './upstreams.ts';

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

/** A way through the gateway for one request at a time, with all upstreams at its end. */
export interface Lane {
  send(sending: Sending): Promise<Reply>;
}

export interface Sending {
  readonly path: string;
  readonly upstream: Upstream;
  readonly body: JsonObject;
  /** What the upstream answers. */
  readonly answer: WireAnswer;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** True: the key has a guardrail that finds nothing, so that nothing is relayed. */
  readonly isGuarded?: boolean | undefined;
}

/** A few gateways with lanes that are used at the same time. */
export interface Lanes {
  readonly lanes: readonly Lane[];
  close(): Promise<void>;
}

const DIALECT_WORDS: Readonly<Record<DialectName, string>> = {
  messages: 'anthropic-messages',
  responses: 'openai-responses',
  chat: 'openai-chat',
  gemini: 'google-gemini',
  bedrock: 'aws-bedrock',
};

/** A gateway takes three times as long as the judges: with two, two cores have work to the end. */
const GATEWAYS = 2;

const KEY = 'sk-sb-v1-api-key-of-the-tests';
const GUARDED_KEY = 'sk-sb-v1-guarded-key-of-the-tests';

/** A fast path for thousands of requests: connections are kept, and only what the judges read is recorded. */
export async function openLanes(count: number, upstreams: readonly Upstream[]): Promise<Lanes> {
  const received: (Received | undefined)[] = [];
  const answers: WireAnswer[] = [];
  const server = createServer(async (message, response) => {
    const body = JSON.parse(await textOf(message)) as JsonObject;
    const url = message.url ?? '';
    const lane = Number(/-lane-(\d+)/.exec(`${body.model} ${decodeURIComponent(url)}`)?.[1]);
    received[lane] = { headers: message.headers, body };
    const answer = answers[lane];
    if (answer === undefined) throw new Error('a request came before its answer');
    const isStream = body.stream === true || /stream/i.test(url);
    const isBinary = /converse-stream/.test(url);
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
  const config = configuration(numbers, upstreams, `http://127.0.0.1:${port}/v1`);
  const gateways = await Promise.all(Array.from({ length: GATEWAYS }, () => startGateway(config)));
  const agent = new Agent({ keepAlive: true, maxSockets: count });
  return {
    lanes: numbers.map((lane) => ({
      async send({ path, upstream, body, answer, headers = {}, isGuarded = false }) {
        received[lane] = undefined;
        answers[lane] = answer;
        const sent = { ...body, model: modelOf(lane, upstream) };
        const authorization = `Bearer ${isGuarded ? GUARDED_KEY : KEY}`;
        const { status, text } = await post(`${gateways[lane % GATEWAYS]?.url}${path}`, agent, sent, {
          authorization,
          ...headers,
        });
        return { status, text, received: received[lane] };
      },
    })),
    async close() {
      agent.destroy();
      await Promise.all(gateways.map((each) => each.stop()));
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function configuration(
  lanes: readonly number[],
  upstreams: readonly Upstream[],
  address: string,
): JsonObject {
  const [first] = upstreams;
  return {
    providers: upstreams.map(({ provider, dialect }) => ({
      slug: provider,
      dialect: DIALECT_WORDS[dialect],
      base_url: address,
      api_key: 'k',
    })),
    models: [
      ...['other', 'another'].map((name) => ({
        id: `acme/${name}`,
        endpoints: [{ provider: first?.provider ?? '', model: `${name}-lane-0` }],
      })),
      ...lanes.flatMap((lane) =>
        upstreams.map((upstream) => ({
          id: modelOf(lane, upstream),
          context_length: 1_000_000,
          max_output_tokens: 64_000,
          input_modalities: ['text', 'image', 'file', 'audio', 'video'],
          output_modalities: ['text', 'image', 'audio'],
          reasoning: { mandatory: false, default_enabled: true },
          endpoints: [{ provider: upstream.provider, model: `${upstream.model}-lane-${lane}` }],
        })),
      ),
    ],
    routing: { cooldown: { failures: 1000 } },
    workspaces: [
      {
        slug: 'guarded',
        keys: [{ name: 'guarded', secret: GUARDED_KEY }],
        guardrails: [
          {
            name: 'watch',
            default: true,
            content_filters: [{ pattern: 'words-of-no-sample-[0-9]+', action: 'flag' }],
          },
        ],
      },
    ],
  };
}

function modelOf(lane: number, upstream: Upstream): string {
  return `lane-${lane}/${upstream.provider}`;
}

/** The program as it ships, in a process of its own. */
async function startGateway(config: JsonObject): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-types-'));
  const file = join(folder, 'signalbox.yaml');
  writeFileSync(file, stringify(config));
  const flags = ['--config', file, '--data-dir', folder, '--port', '0'];
  const child = spawn(process.execPath, [PROGRAM, ...flags], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', SIGNALBOX_API_KEY: KEY },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stderr?.on('data', (piece) => {
      if (text === 'ready') return;
      text += String(piece);
      const line = text.split('\n').find((each) => each.includes('"ready"') && each.endsWith('}'));
      if (line === undefined) return;
      text = 'ready';
      resolve((JSON.parse(line) as { address: string }).address);
    });
    child.once('exit', (code) => reject(new Error(`the gateway ended with ${code}: ${text}`)));
  });
  return {
    url,
    async stop() {
      child.kill();
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function post(
  url: string,
  agent: Agent,
  body: JsonObject,
  headers: Readonly<Record<string, string>>,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      url,
      {
        method: 'POST',
        agent,
        headers: { 'content-type': 'application/json', 'x-signalbox-metadata': 'enabled', ...headers },
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
