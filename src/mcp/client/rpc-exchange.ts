import type { Frame } from '../../kit/frames/frames.ts';
import { FrameTooLarge } from '../../kit/frames/frames.ts';
import { SSE_TYPE, SseReader } from '../../kit/frames/sse.ts';
import { isJsonObject, type Json, type JsonObject, readJson } from '../../kit/json/json.ts';
import { objectAt, stringAt } from '../../kit/json/members.ts';
import type { SecretRemover } from '../../kit/secrets/secret-remover.ts';
import type { Egress, EgressReply } from '../../net/egress/egress.ts';
import { EgressProblem } from '../../net/egress/egress-problem.ts';
import { type RpcFault, type RpcId, type RpcMessage, readFault, readMessage } from '../protocol.ts';
import { McpProblem } from './mcp-problem.ts';
import { type RemoteServer, secretRemover } from './remote-server.ts';

export interface RpcPost {
  readonly message: JsonObject;
  /** Headers besides those of the server. */
  readonly headers: Readonly<Record<string, string>>;
  /** The request that a reply is awaited for; absent = the message is none. */
  readonly awaits?: RpcId;
  readonly totalMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Called with each request that the server makes on the stream of its reply. */
  readonly onRequest?: (request: Extract<RpcMessage, { kind: 'request' }>) => void;
  /** Called with each notification on that stream. */
  readonly onNotification?:
    | ((notification: Extract<RpcMessage, { kind: 'notification' }>) => void)
    | undefined;
}

export interface RpcReply {
  readonly answer: Extract<RpcMessage, { kind: 'result' | 'error' }> | undefined;
  readonly headers: EgressReply['headers'];
}

const MAX_ERROR_CHARACTERS = 1000;

const TYPES = { accept: `application/json, ${SSE_TYPE}`, 'content-type': 'application/json' };

/** Posts a message. Rejects with an McpProblem or the signal's reason. */
export async function postMessage(egress: Egress, server: RemoteServer, post: RpcPost): Promise<RpcReply> {
  const stream = new ReplyStream(post);
  const request = {
    method: 'POST',
    headers: { ...server.headers, ...TYPES, ...post.headers },
    body: JSON.stringify(post.message),
    limits: { totalMs: post.totalMs, maxBytes: post.maxBytes, maxRedirects: 0 },
    signal: post.signal,
    isEnough: (piece: Uint8Array, headers: EgressReply['headers']) => isStream(headers) && stream.push(piece),
  } as const;
  const reply = await reached(() =>
    server.isConfigured ? egress.call(server.url, request) : egress.fetch(server.url, request),
  );
  const { status, headers } = reply;
  if (status === 404 && post.headers['mcp-session-id'] !== undefined) {
    throw new McpProblem('session', 'the server has forgotten the session');
  }
  if (status === 401) throw new McpProblem('unauthorized', 'the server answered with status 401');
  if (status < 200 || status > 299) {
    const fault = faultIn(reply);
    const said = fault === undefined ? '' : `: ${saidIn(fault, secretRemover(server))}`;
    throw new McpProblem('rejected', `the server answered with status ${status}${said}`, fault);
  }
  if (post.awaits === undefined) return { answer: undefined, headers };
  const answer = isStream(headers) ? stream.end() : wholeAnswer(reply, post.awaits);
  if (answer !== undefined) return { answer, headers };
  if (reply.isCut) throw new McpProblem('protocol', `the reply is longer than ${post.maxBytes} bytes`);
  throw new McpProblem('protocol', 'the server sent no answer that the gateway can read');
}

/** Ends a session at its server, as far as it can be reached. */
export async function deleteSession(
  egress: Egress,
  server: RemoteServer,
  headers: Readonly<Record<string, string>>,
  totalMs: number,
): Promise<void> {
  const request = {
    method: 'DELETE',
    headers: { ...server.headers, ...headers },
    limits: { totalMs, maxBytes: 0, maxRedirects: 0 },
    signal: new AbortController().signal,
  } as const;
  await reached(() =>
    server.isConfigured ? egress.call(server.url, request) : egress.fetch(server.url, request),
  );
}

async function reached<T>(exchange: () => Promise<T>): Promise<T> {
  try {
    return await exchange();
  } catch (problem) {
    if (problem instanceof FrameTooLarge)
      throw new McpProblem('protocol', 'an event of the reply is too long');
    if (!(problem instanceof EgressProblem)) throw problem;
    throw new McpProblem(problem.reason, problem.message);
  }
}

function isStream(headers: EgressReply['headers']): boolean {
  return headers['content-type']?.toLowerCase().startsWith(SSE_TYPE) === true;
}

/** Reads a reply while it comes, so that a stream that is never closed ends with its answer. */
class ReplyStream {
  readonly #post: RpcPost;
  readonly #reader: SseReader;
  #answer: RpcReply['answer'];

  constructor(post: RpcPost) {
    this.#post = post;
    this.#reader = new SseReader(post.maxBytes);
  }

  /** True once the answer has come. */
  push(piece: Uint8Array): boolean {
    return this.#read(this.#reader.push(piece));
  }

  end(): RpcReply['answer'] {
    if (this.#answer === undefined) this.#read(this.#reader.end());
    return this.#answer;
  }

  #read(frames: readonly Frame[]): boolean {
    for (const { data } of frames) {
      for (const message of messagesOf(data)) {
        if (isAnswerTo(message, this.#post.awaits)) this.#answer ??= message;
        else if (message.kind === 'request') this.#post.onRequest?.(message);
        else if (message.kind === 'notification') this.#post.onNotification?.(message);
      }
    }
    return this.#answer !== undefined;
  }
}

function faultIn({ bytes }: EgressReply): RpcFault | undefined {
  const reading = readJson(bytes.toString('utf8'));
  const error = reading.ok && isJsonObject(reading.value) ? objectAt(reading.value, 'error') : undefined;
  return stringAt(error, 'message') === undefined || error === undefined ? undefined : readFault(error);
}

/** What a server says of a failure, with the versions that it supports if those are the reason. */
export function saidIn({ message, supported }: RpcFault, withoutSecrets: SecretRemover): string {
  const said = supported.length === 0 ? message : `${message} (it supports ${supported.join(', ')})`;
  return withoutSecrets.bounded(said, MAX_ERROR_CHARACTERS);
}

function wholeAnswer({ bytes, isCut }: EgressReply, awaits: RpcId): RpcReply['answer'] {
  if (isCut) return undefined;
  return messagesOf(bytes.toString('utf8')).find((message) => isAnswerTo(message, awaits)) as
    | RpcReply['answer']
    | undefined;
}

/** The messages in a text: one, or a list. */
function messagesOf(text: string): RpcMessage[] {
  const reading = readJson(text);
  if (!reading.ok) return [];
  const values: Json[] = Array.isArray(reading.value) ? reading.value : [reading.value];
  return values.flatMap((value) => readMessage(value) ?? []);
}

/** An error without an id can only be about the request that was sent. */
function isAnswerTo(
  message: RpcMessage,
  awaits: RpcId | undefined,
): message is Extract<RpcMessage, { kind: 'result' | 'error' }> {
  if (message.kind === 'result') return message.id === awaits;
  return message.kind === 'error' && (message.id === awaits || message.id === null);
}
