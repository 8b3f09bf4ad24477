import type { Socket } from 'node:net';
import type { Cohort } from '../../../kit/loop/cohort.ts';
import { type BodyDecoder, LengthDecoder } from '../body-decoder.ts';
import { ChunkedDecoder } from '../chunked-decoder.ts';
import type { SectionProblem } from '../fields.ts';
import { REQUEST_RULES } from '../reading-rules.ts';
import { afterLineBreaks, END_OF_HEAD, HeadCollector } from './head-collector.ts';
import { type BodySource, InboundRequest } from './inbound-request.ts';
import { LingeringClose, type LingerLimits, type LingerOwner } from './lingering-close.ts';
import { OutboundResponse, type ResponseConnection } from './outbound-response.ts';
import { PresenceProbe } from './presence-probe.ts';
import { requestFramingOf } from './request-framing.ts';
import { parseRequestHead } from './request-head.ts';
import { ResponseQueue } from './response-queue.ts';
import { type ScannedHead, scanHead } from './scan-head.ts';

export interface ServerConnectionLimits extends LingerLimits {
  /** From the start of a connection, or the first byte of a later request, to the end of the head. */
  readonly headersMs: number;
  /** From the same moment to the end of the body. */
  readonly requestMs: number;
  readonly idleMs: number;
  readonly maxHeadBytes: number;
  /** Responses that may be owed at the same time: the connection is not read while it owes as many. */
  readonly maxPipelined: number;
}

/** Why a request is refused before there is an `InboundRequest`. `connect`: its method is CONNECT. */
export type HeadRefusal = SectionProblem | 'late' | 'connect';

/** The listener, as its connections see it. */
export interface ServerConnectionOwner extends LingerOwner {
  readonly limits: ServerConnectionLimits;
  /** Connections on which a request begins in this turn: calls `onTurnEnd` of each. */
  readonly arrivals: Cohort<ServerConnection>;
  /** True while overloaded: call `turnAway` before parsing. */
  isOverloaded(): boolean;
  /**
   * True while overloaded, up to a number of calls in each turn: a request may be turned away as soon as it is read.
   */
  mayTurnAwayEarly(): boolean;
  /**
   * True for a request that has a reserved share while many arrive, up to a number of requests in each turn: parse it
   * at once. `bytes` begin with its first line.
   */
  takesReservedShare(bytes: Buffer): boolean;
  /** The response to a request that is turned away; undefined if it is to be parsed. */
  turnAway(head: ScannedHead): string | undefined;
  /** A request was parsed, with as much of its body as came with the head. */
  accept(request: InboundRequest, response: OutboundResponse): void;
  /** A request cannot be parsed, and no response has begun: must call `endWith`. */
  refuse(connection: ServerConnection, problem: HeadRefusal): void;
  onIdle(connection: ServerConnection): void;
  onClosed(connection: ServerConnection): void;
}

const NO_BODY = new LengthDecoder(0);

/**
 * One connection of a caller: parses requests from its bytes, and writes their responses in the order of the requests.
 * Bytes that begin a request wait in `#pending` until the end of the turn of the event loop, so that requests of many
 * connections begin together; later bytes of the request are parsed at once.
 */
export class ServerConnection implements ResponseConnection, BodySource {
  readonly #socket: Socket;
  readonly #owner: ServerConnectionOwner;
  readonly #responses = new ResponseQueue();
  /**
   * Bytes that are not parsed yet: they begin a request and wait for the end of the turn, or the pipeline is full. At
   * most one read.
   */
  #pending: Buffer | undefined;
  #isParseScheduled = false;
  readonly #head = new HeadCollector();
  /** The request whose body has not come to its end, its response and its decoder. */
  #receiving: InboundRequest | undefined;
  #responseToReceiving: OutboundResponse | undefined;
  #bodyDecoder: BodyDecoder = NO_BODY;
  /** Set while a request is being received (a new connection counts as one), or while the connection is idle. */
  #requestSinceMs: number | undefined = performance.now();
  #idleSinceMs: number | undefined;
  #isParsing = false;
  /** Requests in the bytes that are being parsed. */
  #parsedRequests = 0;
  /** No further request is parsed: bytes that come are dropped. */
  #discardsInput = false;
  #hasFailed = false;
  /** The caller has ended its side (FIN). */
  #hasCallerEnded = false;
  /** Set while responses are owed to a caller that has ended its side. */
  #probe: PresenceProbe | undefined;
  /** Set once our side has ended while the caller may still send. */
  #lingering: LingeringClose | undefined;

  constructor(socket: Socket, owner: ServerConnectionOwner) {
    this.#socket = socket;
    this.#owner = owner;
    // The encoding of nearly all writes: Node looks up an encoding that is given with each write.
    socket.setDefaultEncoding('latin1');
    socket.on('data', (bytes: Buffer) => this.#read(bytes));
    socket.on('drain', () => this.#responses.current?.becomeWritable());
    socket.on('end', () => this.#onCallerEnd());
    // `close` follows, and is handled.
    socket.on('error', ignore);
    socket.on('close', () => {
      this.parsePending();
      this.#close();
    });
  }

  get needsDrain(): boolean {
    return this.#socket.writableNeedDrain;
  }

  /** No request and no response is open. A new connection is not idle: its first request is on its way. */
  get isIdle(): boolean {
    return this.#idleSinceMs !== undefined;
  }

  isTurnOf(response: OutboundResponse): boolean {
    return this.#responses.current === response;
  }

  write(data: string | Uint8Array, encoding: BufferEncoding): boolean {
    const socket = this.#socket;
    // A late write, after the last response or the close of the connection.
    if (!socket.writable) return false;
    const unsent = this.#probe === undefined ? data : this.#probe.withoutSent(data);
    return encoding === 'latin1' ? socket.write(unsent) : socket.write(unsent, encoding);
  }

  cork(): void {
    this.#socket.cork();
  }

  uncork(): void {
    this.#socket.uncork();
  }

  finish(response: OutboundResponse): void {
    this.#endResponse(response, this.#hasFailed || this.#pending !== undefined || this.#socket.isPaused());
  }

  finishAndLinger(response: OutboundResponse): void {
    this.#endResponse(response, true);
  }

  /** `isUnread`: bytes of the caller may be left unread, so that closing at once would reset the connection. */
  #endResponse({ keepsAlive }: OutboundResponse, isUnread: boolean): void {
    const socket = this.#socket;
    if (!socket.writable) return;
    const next = this.#responses.advance(keepsAlive);
    if (!keepsAlive) this.#discardsInput = true;
    if (socket.writableLength === 0) this.#firstIsFlushed();
    else socket.write('', (error) => this.#wasWritten(error));
    if (keepsAlive) next?.takeTurn();
    else if (isUnread) this.#endAndLinger();
    else socket.destroySoon();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Writes the last bytes of the connection, and closes it once the caller can have read them. */
  endWith(text: string): void {
    this.#socket.write(text, 'utf8');
    this.#endAndLinger();
  }

  get peerAddress(): string | undefined {
    return this.#socket.remoteAddress;
  }

  resumeReading(): void {
    if (this.#socket.isPaused() && !this.#discardsInput) this.#socket.resume();
  }

  /** Closes the connection if it was idle for too long; refuses a request that takes too long to come. */
  checkTimeLimits(nowMs: number): void {
    const { headersMs, requestMs, idleMs } = this.#owner.limits;
    if (this.#idleSinceMs !== undefined && nowMs - this.#idleSinceMs > idleMs) this.destroy();
    // Bytes that have come are parsed before the request counts as late.
    if (this.#requestSinceMs === undefined || this.#pending !== undefined) return;
    const limit = this.#receiving === undefined ? headersMs : requestMs;
    if (nowMs - this.#requestSinceMs > limit) this.#fail('late');
  }

  /** Called by the owner's `arrivals`. */
  onTurnEnd(): void {
    this.#isParseScheduled = false;
    this.parsePending();
  }

  /** Parses pending bytes now, unless the pipeline is full. */
  parsePending(): void {
    const bytes = this.#pending;
    if (bytes === undefined || this.#isPipelineFull) return;
    this.#pending = undefined;
    this.#parse(bytes);
  }

  /** True if as many responses are owed as may be: a caller that sends and never reads must not fill our memory. */
  get #isPipelineFull(): boolean {
    return this.#responses.length >= this.#owner.limits.maxPipelined;
  }

  get #isBetweenRequests(): boolean {
    return this.#pending === undefined && this.#receiving === undefined && !this.#head.hasBegun;
  }

  #read(bytes: Buffer): void {
    if (this.#discardsInput) {
      this.#lingering?.discard(bytes.length);
      return;
    }
    const isTurnedAway =
      this.#isBetweenRequests && this.#owner.mayTurnAwayEarly() && this.#turnAwayEarly(bytes);
    if (!isTurnedAway) this.#receive(bytes);
  }

  /** Turns a request away before it becomes pending. Returns false if it is to be received as usual. */
  #turnAwayEarly(bytes: Buffer): boolean {
    const end = bytes.indexOf(END_OF_HEAD, 0, 'latin1');
    if (end === -1 || end > this.#owner.limits.maxHeadBytes) return false;
    const rest = bytes.length - end - END_OF_HEAD.length;
    if (!this.#turnAway(bytes.toString('latin1', 0, end + 2), rest)) return false;
    this.#becomeIdleIfDone();
    return true;
  }

  /** Keeps bytes that begin a request until the end of the turn; parses others at once, so that one read is kept. */
  #receive(bytes: Buffer): void {
    this.#idleSinceMs = undefined;
    if (this.#isBetweenRequests) {
      this.#pending = bytes;
      if (this.#owner.takesReservedShare(bytes)) this.parsePending();
      else this.#scheduleParse();
      return;
    }
    this.parsePending();
    // A paused socket may still pass on what it had read before.
    if (this.#pending !== undefined) this.#pending = Buffer.concat([this.#pending, bytes]);
    else this.#parse(bytes);
  }

  #parse(bytes: Buffer): void {
    this.#isParsing = true;
    this.#parsedRequests = 0;
    let at = 0;
    while (at < bytes.length && !this.#discardsInput && !this.#socket.destroyed) {
      if (this.#deferNextRequest(bytes, at)) break;
      at =
        this.#receiving === undefined
          ? this.#parseHead(bytes, at)
          : this.#parseBody(this.#receiving, bytes, at);
    }
    this.#isParsing = false;
    if (this.#receiving?.wantsMore === false) this.#socket.pause();
    else if (this.#pending === undefined && this.#socket.isPaused()) this.#socket.resume();
    this.#schedulePending();
    if (this.#hasCallerEnded && this.#pending === undefined) this.#onInputEnd();
    this.#becomeIdleIfDone();
  }

  /**
   * If the pipeline is full, or enough requests were parsed in this turn, makes the next request pending and pauses
   * the socket, so that no more than one read is kept. No time limit runs meanwhile.
   */
  #deferNextRequest(bytes: Buffer, at: number): boolean {
    const isBetweenRequests = this.#receiving === undefined && !this.#head.hasBegun;
    const isFull = this.#isPipelineFull || this.#parsedRequests >= this.#owner.limits.maxPipelined;
    if (!isBetweenRequests || !isFull) return false;
    this.#pending = bytes.subarray(at);
    this.#socket.pause();
    return true;
  }

  /** Schedules pending bytes once the pipeline is no longer full. */
  #schedulePending(): void {
    if (this.#pending === undefined || this.#isPipelineFull || this.#isParsing) return;
    this.#scheduleParse();
  }

  #scheduleParse(): void {
    if (!this.#isParseScheduled) this.#owner.arrivals.add(this);
    this.#isParseScheduled = true;
  }

  /** Parses a head and what there is of its body. Returns the index after them. */
  #parseHead(bytes: Buffer, from: number): number {
    const head = this.#head.collect(bytes, from, this.#owner.limits.maxHeadBytes);
    if (typeof head === 'string') return this.#fail(head);
    // Otherwise only line breaks have come.
    if (head !== undefined || this.#head.hasBegun) this.#requestSinceMs ??= performance.now();
    return head === undefined ? bytes.length : this.#beginRequest(head.text, bytes, head.end);
  }

  /** `at`: index of the first byte after the head. */
  #beginRequest(text: string, bytes: Buffer, at: number): number {
    if (this.#turnAway(text, bytes.length - at)) return bytes.length;
    const head = parseRequestHead(text);
    if (typeof head === 'string') return this.#fail(head);
    if (head.method === 'CONNECT') return this.#fail('connect');
    const framing = requestFramingOf(head);
    if (framing === undefined) return this.#fail('malformed');
    this.#parsedRequests++;
    const request = new InboundRequest(head, framing, this);
    // Before `accept`: the bytes that came with the head mostly are the whole body.
    const after = this.#beginBody(request, bytes, at);
    if (after === undefined) return bytes.length;
    if (isFollowedByBytes(request, bytes, after)) return this.#fail('malformed');
    const response = new OutboundResponse(this, framing.keepsAlive);
    this.#responses.push(response);
    if (this.#receiving !== undefined) this.#responseToReceiving = response;
    this.#owner.accept(request, response);
    return after;
  }

  /**
   * During overload, responds to a request without parsing it, if its body has come as a whole. `rest`: bytes that
   * came after its head. Returns false if the request is to be parsed.
   */
  #turnAway(headText: string, rest: number): boolean {
    if (!this.#owner.isOverloaded() || this.#responses.length > 0 || this.needsDrain) return false;
    const head = scanHead(headText);
    const response = head?.length === rest ? this.#owner.turnAway(head) : undefined;
    if (response === undefined) return false;
    this.#requestSinceMs = undefined;
    this.write(response, 'latin1');
    return true;
  }

  /** Returns the index after what there is of the body; undefined if it is malformed. */
  #beginBody(request: InboundRequest, bytes: Buffer, at: number): number | undefined {
    const { length, isChunked, problem } = request.framing;
    if (!isChunked && length === 0) {
      this.#completeRequest(request);
    } else if (problem === undefined) {
      this.#receiving = request;
      this.#bodyDecoder = isChunked ? new ChunkedDecoder(REQUEST_RULES) : new LengthDecoder(length);
    }
    if (problem !== undefined) this.#discardsInput = true;
    if (this.#receiving === undefined) return at;
    const after = this.#parseBody(request, bytes, at);
    return this.#hasFailed ? undefined : after;
  }

  #parseBody(request: InboundRequest, bytes: Buffer, at: number): number {
    const after = this.#bodyDecoder.decode(bytes, at, bytes.length, request);
    if (typeof after === 'string') return this.#fail('malformed');
    if (this.#bodyDecoder.isDone) this.#completeRequest(request);
    return after;
  }

  #completeRequest(request: InboundRequest): void {
    this.#receiving = undefined;
    this.#responseToReceiving = undefined;
    this.#bodyDecoder = NO_BODY;
    this.#requestSinceMs = undefined;
    if (!request.framing.keepsAlive) this.#discardsInput = true;
    // The reader of the body may have paused the socket, but the next bytes are another request or the end.
    if (this.#socket.isPaused()) this.#socket.resume();
    request.complete();
  }

  /** After an error `close` follows. */
  #wasWritten(error: Error | null | undefined): void {
    if (error === undefined || error === null) this.#firstIsFlushed();
  }

  #firstIsFlushed(): void {
    this.#responses.shiftFlushed();
    this.#schedulePending();
    this.#becomeIdleIfDone();
  }

  #becomeIdleIfDone(): void {
    const isReceiving = !this.#isBetweenRequests || this.#requestSinceMs !== undefined;
    if (isReceiving || this.#responses.length > 0 || this.#isParsing || this.#discardsInput) return;
    this.#idleSinceMs = performance.now();
    this.#owner.onIdle(this);
  }

  /**
   * Stops parsing, and has the owner write an error unless that could be taken for part of a response, or for the
   * response to an earlier request. Returns an index beyond all bytes.
   */
  #fail(problem: HeadRefusal): number {
    const last = this.#responses.lastUnwritten(this.#responseToReceiving);
    this.#discardsInput = true;
    this.#hasFailed = true;
    this.#head.clear();
    this.#requestSinceMs = undefined;
    if (this.#responses.isWithinResponse || !this.#socket.writable) this.destroy();
    // The caller would take an error for the response to an earlier request: closes after that one.
    else if (last !== undefined) last.keepsAlive = false;
    else if (this.#responses.hasBegun) this.endWith('');
    else this.#owner.refuse(this, problem);
    return Number.POSITIVE_INFINITY;
  }

  #onCallerEnd(): void {
    this.#hasCallerEnded = true;
    if (this.#pending === undefined) this.#onInputEnd();
    else this.parsePending();
  }

  /**
   * All input of a caller that has ended its side was parsed. It may still read: it gets the responses to the requests
   * that came as a whole, unless a write fails.
   */
  #onInputEnd(): void {
    const last = this.#responses.lastUnwritten(this.#responseToReceiving);
    const isRequestIncomplete = this.#head.hasBegun || this.#receiving !== undefined;
    if (last === undefined) {
      if (isRequestIncomplete && !this.#discardsInput) this.#fail('malformed');
      else this.#socket.end();
      return;
    }
    this.#discardsInput = true;
    this.#head.clear();
    this.#requestSinceMs = undefined;
    this.#receiving?.cut();
    last.keepsAlive = false;
    this.#probe ??= new PresenceProbe(this.#socket, () => this.#responses.current);
  }

  /** Ends our side, and drops what the caller still sends: many callers read a response after sending all of it. */
  #endAndLinger(): void {
    this.#socket.end();
    this.#socket.resume();
    this.#lingering ??= new LingeringClose(this.#socket, this.#owner);
  }

  #close(): void {
    this.#lingering?.stop();
    this.#probe?.stop();
    this.#idleSinceMs = undefined;
    this.#requestSinceMs = undefined;
    this.#owner.onClosed(this);
    this.#receiving?.cut();
    this.#responses.close();
  }
}

/**
 * Whether bytes follow a request that closes its connection: another server could take them for a body or a request.
 */
function isFollowedByBytes({ framing, isComplete }: InboundRequest, bytes: Buffer, after: number): boolean {
  return isComplete && !framing.keepsAlive && afterLineBreaks(bytes, after) < bytes.length;
}

function ignore(): void {}
