import type { TraceHeaders } from '../../ir/trace.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { stringAt } from '../../kit/json/members.ts';
import type { SecretRemover } from '../../kit/secrets/secret-remover.ts';
import type { Egress } from '../../net/egress/egress.ts';
import {
  PROTOCOL_VERSIONS,
  RPC_ERRORS,
  type RpcMessage,
  rpcError,
  rpcNotification,
  rpcRequest,
  rpcResult,
  SESSION_HEADER,
  STATELESS_VERSION,
  VERSION_HEADER,
} from '../protocol.ts';
import { McpProblem } from './mcp-problem.ts';
import { type RemoteServer, secretRemover } from './remote-server.ts';
import { deleteSession, postMessage, type RpcPost, saidIn } from './rpc-exchange.ts';
import { type ClientInfo, statelessHeaders, statelessParams } from './stateless-request.ts';

export interface SessionDependencies {
  readonly egress: Egress;
  readonly clientInfo: ClientInfo;
}

export interface SessionRequest {
  readonly method: string;
  readonly params: JsonObject;
  /** Arguments of the tool that it calls, some of which a server may want in headers too. */
  readonly inputSchema?: JsonObject;
  /** Called with the parameters of each notification of progress; absent = the server is not asked for any. */
  readonly onProgress?: ((progress: JsonObject) => void) | undefined;
  readonly trace?: TraceHeaders | undefined;
}

interface Agreement {
  readonly headers: Readonly<Record<string, string>>;
  /** The server speaks the version without sessions. */
  readonly isStateless: boolean;
}

const STATELESS: Agreement = { headers: {}, isStateless: true };

export interface RequestLimits {
  readonly totalMs: number;
  readonly maxBytes: number;
}

/** Milliseconds for a message that nothing waits for. */
const ASIDE_MS = 5000;

/** Requests of a server that are answered while it works on one of ours. */
const MAX_ANSWERED_REQUESTS = 16;

const SESSION_ID = /^[\x21-\x7e]{1,1024}$/;

/**
 * A session with a server, opened by the first request. With a server that speaks only the version without sessions it
 * is what was agreed upon: how further requests are sent.
 */
export class McpSession {
  readonly #server: RemoteServer;
  readonly #dependencies: SessionDependencies;
  readonly #withoutSecrets: SecretRemover;
  #opening: Promise<Agreement> | undefined;
  /** Undefined until the session is open. */
  #agreement: Agreement | undefined;
  #lastId = 0;

  constructor(server: RemoteServer, dependencies: SessionDependencies) {
    this.#server = server;
    this.#dependencies = dependencies;
    this.#withoutSecrets = secretRemover(server);
  }

  /**
   * The result of a request. Opens a new session, once, if the server has forgotten this one or speaks another version
   * by now. Rejects with an McpProblem or the signal's reason.
   */
  async request(request: SessionRequest, limits: RequestLimits, signal: AbortSignal): Promise<JsonObject> {
    const deadline = performance.now() + limits.totalMs;
    const left = () => ({ ...limits, totalMs: Math.max(1, deadline - performance.now()) });
    const agreement = await this.#opened(limits, signal);
    try {
      return await this.#ask(request, agreement, left(), signal);
    } catch (problem) {
      if (!isOutdated(problem)) throw problem;
      if (this.#agreement === agreement) this.#forget();
      return this.#ask(request, await this.#opened(left(), signal), left(), signal);
    }
  }

  close(): void {
    const headers = this.#agreement?.headers;
    this.#forget();
    if (headers?.[SESSION_HEADER] === undefined) return;
    deleteSession(this.#dependencies.egress, this.#server, headers, ASIDE_MS).catch(() => {});
  }

  #forget(): void {
    this.#opening = undefined;
    this.#agreement = undefined;
  }

  /** Requests that come while the session is being opened share it, so the abort of one must not end the opening. */
  async #opened(limits: RequestLimits, signal: AbortSignal): Promise<Agreement> {
    signal.throwIfAborted();
    if (this.#opening === undefined) {
      const opening = this.#open(limits);
      this.#opening = opening;
      opening.then(
        (agreement) => {
          if (this.#opening === opening) this.#agreement = agreement;
        },
        () => {
          if (this.#opening === opening) this.#opening = undefined;
        },
      );
    }
    return unlessAborted(this.#opening, signal);
  }

  async #open(limits: RequestLimits): Promise<Agreement> {
    try {
      return await this.#initialize(limits);
    } catch (problem) {
      if (hasNoSessions(problem)) return STATELESS;
      throw problem;
    }
  }

  async #initialize(limits: RequestLimits): Promise<Agreement> {
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
    return { headers: opened, isStateless: false };
  }

  async #ask(
    { method, params, inputSchema, onProgress, trace }: SessionRequest,
    { headers, isStateless }: Agreement,
    limits: RequestLimits,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const id = this.#nextId();
    const wanted = onProgress === undefined ? params : { ...params, _meta: { progressToken: id } };
    const onNotification: RpcPost['onNotification'] =
      onProgress &&
      ((notification) => {
        const isOfRequest =
          notification.method === 'notifications/progress' && notification.params.progressToken === id;
        if (isOfRequest) onProgress(notification.params);
      });
    const post = { awaits: id, ...limits, signal, onNotification };
    if (isStateless) {
      const message = rpcRequest(id, method, statelessParams(wanted, this.#dependencies.clientInfo));
      const own = { ...statelessHeaders(method, params, inputSchema), ...trace };
      // A request is given up by the end of its connection.
      return completeResult(this.#resultOf((await this.#post({ message, headers: own, ...post })).answer));
    }
    let answered = 0;
    const onRequest: RpcPost['onRequest'] = (request) => {
      if (++answered <= MAX_ANSWERED_REQUESTS) this.#aside(replyTo(request), headers);
    };
    try {
      const message = rpcRequest(id, method, wanted);
      const { answer } = await this.#post({ message, headers: { ...headers, ...trace }, ...post, onRequest });
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
    const said = answer === undefined ? '' : saidIn(answer.error, this.#withoutSecrets);
    throw new McpProblem('rejected', said === '' ? 'the server reported an error' : said, answer?.error);
  }

  #nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }
}

const NEVER = new AbortController().signal;

/** True if what was agreed upon with the server does not hold any more. */
function isOutdated(problem: unknown): boolean {
  if (!(problem instanceof McpProblem)) return false;
  return problem.reason === 'session' || problem.fault?.code === RPC_ERRORS.unsupportedVersion;
}

/** True if a server refused `initialize`: it speaks the version without sessions, or does not know the method. */
function hasNoSessions(problem: unknown): boolean {
  if (!(problem instanceof McpProblem) || problem.fault === undefined) return false;
  const { code, supported } = problem.fault;
  if (code === RPC_ERRORS.unsupportedVersion) return supported.includes(STATELESS_VERSION);
  return code === RPC_ERRORS.unknownMethod;
}

/** A result of the version without sessions, which may ask for something else before it is complete. */
function completeResult(result: JsonObject): JsonObject {
  const { resultType = 'complete' } = result;
  if (resultType === 'complete') return result;
  if (resultType === 'input_required') throw new McpProblem('rejected', INPUT_REQUIRED);
  throw new McpProblem('protocol', 'the server sent a result of a kind that the gateway does not know');
}

const INPUT_REQUIRED = 'the server asks for further input of the user, which the gateway does not offer';

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
