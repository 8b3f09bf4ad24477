import type { Egress } from '../../egress/egress.ts';
import type { SecretRemover } from '../../egress/secret-remover.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { stringAt } from '../../kit/json/members.ts';
import {
  PROTOCOL_VERSIONS,
  RPC_ERRORS,
  type RpcMessage,
  rpcError,
  rpcNotification,
  rpcRequest,
  rpcResult,
  SESSION_HEADER,
  VERSION_HEADER,
} from '../protocol.ts';
import { McpProblem } from './mcp-problem.ts';
import { type RemoteServer, secretRemover } from './remote-server.ts';
import { deleteSession, MAX_ERROR_CHARACTERS, postMessage, type RpcPost } from './rpc-exchange.ts';

export interface SessionDependencies {
  readonly egress: Egress;
  /** Name and version by which the gateway introduces itself. */
  readonly clientInfo: { readonly name: string; readonly version: string };
}

/** Limits of one request of a session. */
export interface RequestLimits {
  readonly totalMs: number;
  readonly maxBytes: number;
}

/** Milliseconds for a message that nothing waits for. */
const ASIDE_MS = 5000;

/** Requests of a server that are answered while it works on one of ours. */
const MAX_ANSWERED_REQUESTS = 16;

/** The characters that a session id may have. */
const SESSION_ID = /^[\x21-\x7e]{1,1024}$/;

/** A session with a server, opened by the first request. */
export class McpSession {
  readonly #server: RemoteServer;
  readonly #dependencies: SessionDependencies;
  readonly #withoutSecrets: SecretRemover;
  #opening: Promise<Readonly<Record<string, string>>> | undefined;
  /** Headers of every request once the session is open. */
  #headers: Readonly<Record<string, string>> | undefined;
  #lastId = 0;

  constructor(server: RemoteServer, dependencies: SessionDependencies) {
    this.#server = server;
    this.#dependencies = dependencies;
    this.#withoutSecrets = secretRemover(server);
  }

  /**
   * The result of a request. Opens a new session, once, if the server has forgotten this one. Rejects with an
   * McpProblem or the signal's reason.
   */
  async request(
    method: string,
    params: JsonObject,
    limits: RequestLimits,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const deadline = performance.now() + limits.totalMs;
    const left = () => ({ ...limits, totalMs: Math.max(1, deadline - performance.now()) });
    const headers = await this.#opened(limits, signal);
    try {
      return await this.#ask(method, params, headers, left(), signal);
    } catch (problem) {
      if (!(problem instanceof McpProblem) || problem.reason !== 'session') throw problem;
      if (this.#headers === headers) this.#forget();
      return this.#ask(method, params, await this.#opened(left(), signal), left(), signal);
    }
  }

  /** Ends the session at the server. */
  close(): void {
    const headers = this.#headers;
    this.#forget();
    if (headers?.[SESSION_HEADER] === undefined) return;
    deleteSession(this.#dependencies.egress, this.#server, headers, ASIDE_MS).catch(() => {});
  }

  #forget(): void {
    this.#opening = undefined;
    this.#headers = undefined;
  }

  /** Requests that come while the session is being opened share it, so the abort of one must not end the opening. */
  async #opened(limits: RequestLimits, signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    signal.throwIfAborted();
    if (this.#opening === undefined) {
      const opening = this.#open(limits);
      this.#opening = opening;
      opening.then(
        (headers) => {
          if (this.#opening === opening) this.#headers = headers;
        },
        () => {
          if (this.#opening === opening) this.#opening = undefined;
        },
      );
    }
    return unlessAborted(this.#opening, signal);
  }

  async #open(limits: RequestLimits): Promise<Readonly<Record<string, string>>> {
    const { clientInfo } = this.#dependencies;
    const [protocolVersion] = PROTOCOL_VERSIONS;
    const id = this.#nextId();
    const params = { protocolVersion, capabilities: {}, clientInfo: { ...clientInfo } };
    const { answer, headers } = await this.#post({
      message: rpcRequest(id, 'initialize', params),
      headers: {},
      awaits: id,
      ...limits,
      signal: NEVER,
    });
    const version = stringAt(this.#resultOf(answer), 'protocolVersion');
    if (version === undefined || !PROTOCOL_VERSIONS.includes(version)) {
      throw new McpProblem('protocol', 'the server speaks no version of the protocol that the gateway knows');
    }
    const sessionId = headers[SESSION_HEADER];
    if (sessionId !== undefined && !SESSION_ID.test(sessionId)) {
      throw new McpProblem('protocol', 'the server gave an invalid session id');
    }
    const opened = {
      [VERSION_HEADER]: version,
      ...(sessionId !== undefined && { [SESSION_HEADER]: sessionId }),
    };
    await this.#post({
      message: rpcNotification('notifications/initialized'),
      headers: opened,
      ...limits,
      signal: NEVER,
    });
    return opened;
  }

  async #ask(
    method: string,
    params: JsonObject,
    headers: Readonly<Record<string, string>>,
    limits: RequestLimits,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const id = this.#nextId();
    let answered = 0;
    const onRequest: RpcPost['onRequest'] = (request) => {
      if (++answered <= MAX_ANSWERED_REQUESTS) this.#aside(replyTo(request), headers);
    };
    try {
      const message = rpcRequest(id, method, params);
      const { answer } = await this.#post({ message, headers, awaits: id, ...limits, signal, onRequest });
      return this.#resultOf(answer);
    } catch (problem) {
      const isGivenUp = signal.aborted || (problem instanceof McpProblem && problem.reason === 'timeout');
      if (isGivenUp) this.#aside(rpcNotification('notifications/cancelled', { requestId: id }), headers);
      throw problem;
    }
  }

  #post(post: RpcPost) {
    return postMessage(this.#dependencies.egress, this.#server, post);
  }

  /** Sends a message that nothing waits for. */
  #aside(message: JsonObject, headers: Readonly<Record<string, string>>): void {
    this.#post({ message, headers, totalMs: ASIDE_MS, maxBytes: 0, signal: NEVER }).catch(() => {});
  }

  #resultOf(answer: Extract<RpcMessage, { kind: 'result' | 'error' }> | undefined): JsonObject {
    if (answer?.kind === 'result') return answer.result;
    const said = this.#withoutSecrets.bounded(answer?.message ?? '', MAX_ERROR_CHARACTERS);
    throw new McpProblem('rejected', said === '' ? 'the server reported an error' : said);
  }

  #nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }
}

const NEVER = new AbortController().signal;

/** The gateway offers servers nothing but to be asked whether it is alive. */
function replyTo({ id, method }: Extract<RpcMessage, { kind: 'request' }>): JsonObject {
  if (method === 'ping') return rpcResult(id, {});
  return rpcError(id, RPC_ERRORS.unknownMethod, 'this client does not offer the method');
}

/** The outcome of work that others wait for too; rejects with the signal's reason once it is aborted. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
