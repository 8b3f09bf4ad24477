import type { Socket } from 'node:net';
import type { Cohort } from '../../kit/loop/cohort.ts';
import { type BodyDecoder, LengthDecoder } from '../body-decoder.ts';
import { isLineBreak } from '../characters.ts';
import { ChunkedDecoder } from '../chunked-decoder.ts';
import type { SectionProblem } from '../fields.ts';
import { REQUEST_RULES } from '../reading-rules.ts';
import { type BodySource, InboundRequest } from './inbound-request.ts';
import { type AnswerLine, Outgoing } from './outbound-response.ts';
import { PresenceProbe } from './presence-probe.ts';
import { framingOf } from './request-framing.ts';
import { cannotBeInHead, parseRequestHead } from './request-head.ts';
import { type PlainRequest, plainRequest } from './scan-head.ts';

/** How long things may take on a connection, and how much it may ask for. */
export interface ConnectionLimits {
  /** From a connection's (or request's) first moment to the end of its head. */
  readonly headersMs: number;
  /** The same to the end of its body. */
  readonly requestMs: number;
  /** How long a connection without a request is kept. */
  readonly idleMs: number;
  /** How long a connection stays open after its last answer where not all of the request is read. */
  readonly lingerMs: number;
  /**
   * How long the rest of a request is read and dropped after the answer, on as many connections as the owner allows.
   */
  readonly discardMs: number;
  readonly maxHeadBytes: number;
  /**
   * Requests that may wait for their answers at the same time: a connection that owes as many is not read until one
   * has left.
   */
  readonly maxPipelined: number;
}

/** Why there is no request to answer. `connect`: it asks for a way to another host. */
export type Refusal = SectionProblem | 'late' | 'connect';

/** The listener, as its connections see it. */
export interface ConnectionOwner {
  readonly limits: ConnectionLimits;
  /** Connections on which a request begins in this turn: has each of them take what came. */
  readonly arrivals: Cohort<Connection>;
  /** True while overloaded: call `turnAway` before parsing. */
  isFull(): boolean;
  /**
   * True while overloaded and fewer than the allowed number were refused in this turn before buffering. Counts each
   * call.
   */
  refusesAtOnce(): boolean;
  /** The response to a request that is refused unread; undefined if it is to be read. */
  turnAway(request: PlainRequest): string | undefined;
  /** A request is here, and as much of its body as came with it. */
  accept(request: InboundRequest, answer: Outgoing): void;
  /** Bytes came that are no request, and no answer was begun: says so by `endWith`. */
  refuse(connection: Connection, problem: Refusal): void;
  /** Nothing is asked and nothing answered. */
  rested(connection: Connection): void;
  closed(connection: Connection): void;
  /** Whether one more connection may read and drop what is left of a request; if so, `endDiscarding` follows. */
  beginDiscarding(): boolean;
  endDiscarding(): void;
}

const END_OF_HEAD = '\r\n\r\n';
const NO_BODY = new LengthDecoder(0);

/**
 * Bytes that are read and dropped of a request after its answer. Closing a connection on which bytes are unread resets
 * it, and many clients then report the reset and not the answer.
 */
const MOST_DISCARDED_BYTES = 64 * 1024 * 1024;

/** The same where too many connections discard: enough to notice that the caller has left. */
const FEW_DISCARDED_BYTES = 64 * 1024;

/**
 * Characters of line breaks before a request: some send one. Without a limit they would keep a connection for ever.
 */
const MOST_LINE_BREAKS = 32;

/** One connection: finds the requests in its bytes, and has them answered in their order. */
export class Connection implements AnswerLine, BodySource {
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  /** Answers that have not left yet, in the order of their requests. */
  readonly #answers: Outgoing[] = [];
  /** How many of them are written to their ends. */
  #writtenAnswers = 0;
  /** Whose turn it is. */
  #writing: Outgoing | undefined;
  /**
   * Bytes that came in this turn while no request was being read, or that wait until fewer answers are owed. At most
   * one read.
   */
  #came: Buffer | undefined;
  /** It is among those that take what came at the end of this turn: once is enough. */
  #isArriving = false;
  /** The beginning of a head. */
  #beginning: Buffer | undefined;
  /** The request whose body is on its way, and what is known of its end. */
  #receiving: InboundRequest | undefined;
  #answerToReceiving: Outgoing | undefined;
  #bodyDecoder: BodyDecoder = NO_BODY;
  /** Since when a request is being read, and since when there is none; undefined when it is not so. */
  #readingSinceMs: number | undefined = performance.now();
  #restingSinceMs: number | undefined;
  #isTaking = false;
  /** Requests that came with the bytes that are being taken. */
  #takenAtOnce = 0;
  /** No further request is read: bytes that come are dropped. */
  #discardsInput = false;
  #hasFailed = false;
  /** The caller has ended its side. */
  #hasEnded = false;
  /** Set while answers are owed to a caller that has ended its side. */
  #probe: PresenceProbe | undefined;
  #lingerTimer: NodeJS.Timeout | undefined;
  /** It is counted among those that discard much. */
  #isDiscarding = false;
  /** Bytes that may still come before the connection is no longer read. */
  #discardableBytes = 0;
  /** Characters of line breaks since the last request. */
  #lineBreaks = 0;

  constructor(socket: Socket, owner: ConnectionOwner) {
    this.#socket = socket;
    this.#owner = owner;
    // Of nearly all that is written: an encoding that is named is looked up each time.
    socket.setDefaultEncoding('latin1');
    socket.on('data', (bytes: Buffer) => this.#read(bytes));
    socket.on('drain', () => this.#writing?.becomeWritable());
    socket.on('end', () => this.#end());
    // `close` follows and says it all.
    socket.on('error', ignore);
    socket.on('close', () => {
      this.takeWhatCame();
      this.#close();
    });
  }

  get needsDrain(): boolean {
    return this.#socket.writableNeedDrain;
  }

  /** Nothing is asked and nothing answered. A connection that was just made is about to ask. */
  get isResting(): boolean {
    return this.#restingSinceMs !== undefined;
  }

  isTurnOf(answer: Outgoing): boolean {
    return this.#writing === answer;
  }

  write(data: string | Uint8Array, encoding: BufferEncoding): boolean {
    const socket = this.#socket;
    // Late words on a connection that is closed, or has said its last.
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

  passOn(answer: Outgoing): void {
    this.#conclude(answer, this.#hasFailed || this.#came !== undefined || this.#socket.isPaused());
  }

  linger(answer: Outgoing): void {
    this.#conclude(answer, true);
  }

  /** `isUnread`: bytes of the caller may be left unread. */
  #conclude({ keepsAlive }: Outgoing, isUnread: boolean): void {
    const socket = this.#socket;
    if (!socket.writable) return;
    this.#writtenAnswers++;
    const next = keepsAlive ? this.#answers[this.#writtenAnswers] : undefined;
    this.#writing = next;
    if (!keepsAlive) this.#discardsInput = true;
    if (socket.writableLength === 0) this.#firstHasLeft();
    else socket.write('', (error) => this.#wasWritten(error));
    if (keepsAlive) next?.takeTurn();
    else if (isUnread) this.#endGently();
    else socket.destroySoon();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Writes the last bytes of the connection and gives them time to leave. */
  endWith(text: string): void {
    this.#socket.write(text, 'utf8');
    this.#endGently();
  }

  readOn(): void {
    if (this.#socket.isPaused() && !this.#discardsInput) this.#socket.resume();
  }

  /** Ends what takes too long. */
  check(nowMs: number): void {
    const { headersMs, requestMs, idleMs } = this.#owner.limits;
    if (this.#restingSinceMs !== undefined && nowMs - this.#restingSinceMs > idleMs) this.destroy();
    // Bytes that have come are parsed before the request counts as late.
    if (this.#readingSinceMs === undefined || this.#came !== undefined) return;
    const limit = this.#receiving === undefined ? headersMs : requestMs;
    if (nowMs - this.#readingSinceMs > limit) this.#fail('late');
  }

  /** The turn ends for which bytes were kept. */
  arrive(): void {
    this.#isArriving = false;
    this.takeWhatCame();
  }

  /** Takes the bytes that are kept for the end of this turn, if it has not yet. */
  takeWhatCame(): void {
    const bytes = this.#came;
    if (bytes === undefined || this.#owesEnough) return;
    this.#came = undefined;
    this.#take(bytes);
  }

  /** One who sends and never reads would have us keep an answer for every request. */
  get #owesEnough(): boolean {
    return this.#answers.length >= this.#owner.limits.maxPipelined;
  }

  /** No request is being read, and nothing waits to be. */
  get #isBetweenRequests(): boolean {
    return this.#came === undefined && this.#receiving === undefined && this.#beginning === undefined;
  }

  #read(bytes: Buffer): void {
    if (this.#discardsInput) {
      this.#discard(bytes.length);
      return;
    }
    const isRefused =
      this.#isBetweenRequests && this.#owner.refusesAtOnce() && this.#isTurnedAwayAtOnce(bytes);
    if (!isRefused) this.#come(bytes);
  }

  /** Drops bytes after the last response, up to a limit; then stops reading and closes. */
  #discard(length: number): void {
    if (this.#lingerTimer === undefined) return;
    this.#discardableBytes -= length;
    if (this.#discardableBytes > 0) return;
    this.#socket.pause();
    this.#destroyAfter(this.#owner.limits.lingerMs);
  }

  #isTurnedAwayAtOnce(bytes: Buffer): boolean {
    const end = bytes.indexOf(END_OF_HEAD, 0, 'latin1');
    if (end === -1 || end > this.#owner.limits.maxHeadBytes) return false;
    const rest = bytes.length - end - END_OF_HEAD.length;
    if (!this.#isTurnedAway(bytes.toString('latin1', 0, end + 2), rest)) return false;
    this.#restIfDone();
    return true;
  }

  /**
   * A request begins together with others; what comes of it afterwards is taken at once, so that no more than a read
   * is kept.
   */
  #come(bytes: Buffer): void {
    this.#restingSinceMs = undefined;
    if (this.#isBetweenRequests) {
      this.#came = bytes;
      this.#arriveLater();
      return;
    }
    this.takeWhatCame();
    // A socket may hand over what it had read before it was paused.
    if (this.#came !== undefined) this.#came = Buffer.concat([this.#came, bytes]);
    else this.#take(bytes);
  }

  #take(bytes: Buffer): void {
    this.#isTaking = true;
    this.#takenAtOnce = 0;
    let at = 0;
    while (at < bytes.length && !this.#discardsInput && !this.#socket.destroyed) {
      if (this.#isFullBefore(bytes, at)) break;
      at =
        this.#receiving === undefined
          ? this.#takeHead(bytes, at)
          : this.#takeBody(this.#receiving, bytes, at);
    }
    this.#isTaking = false;
    if (this.#receiving?.wantsMore === false) this.#socket.pause();
    else if (this.#came === undefined && this.#socket.isPaused()) this.#socket.resume();
    this.#takeUpKept();
    if (this.#hasEnded && this.#came === undefined) this.#endOfRequests();
    this.#restIfDone();
  }

  /**
   * Whether what follows has to wait, because enough answers are owed or enough requests were taken in this turn. Then
   * it is kept as it is, and the connection is not read, so that no more than one read is kept. No time limit runs
   * meanwhile.
   */
  #isFullBefore(bytes: Buffer, at: number): boolean {
    const isBetween = this.#receiving === undefined && this.#beginning === undefined;
    const isFull = this.#owesEnough || this.#takenAtOnce >= this.#owner.limits.maxPipelined;
    if (!isBetween || !isFull) return false;
    this.#came = bytes.subarray(at);
    this.#socket.pause();
    return true;
  }

  /** Has what was kept taken at the end of this turn, once fewer answers are owed. */
  #takeUpKept(): void {
    if (this.#came === undefined || this.#owesEnough || this.#isTaking) return;
    this.#arriveLater();
  }

  #arriveLater(): void {
    if (!this.#isArriving) this.#owner.arrivals.add(this);
    this.#isArriving = true;
  }

  /** Takes a head and what there is of its body; the place after them. */
  #takeHead(bytes: Buffer, from: number): number {
    const before = this.#beginning;
    const start = before === undefined ? afterLineBreaks(bytes, from) : from;
    this.#lineBreaks += start - from;
    if (this.#lineBreaks > MOST_LINE_BREAKS) return this.#fail('malformed');
    if (start === bytes.length) return start;
    this.#readingSinceMs ??= performance.now();
    const known = before?.length ?? 0;
    const unread = start === 0 ? bytes : bytes.subarray(start);
    const head = before === undefined ? unread : Buffer.concat([before, unread]);
    const length = head.indexOf(END_OF_HEAD, Math.max(0, known - END_OF_HEAD.length + 1), 'latin1');
    const isTooLarge = (length === -1 ? head.length : length) > this.#owner.limits.maxHeadBytes;
    if (isTooLarge) return this.#fail('too-large');
    if (length === -1) {
      // Looked at with the character before them: a line break may come in two pieces.
      if (cannotBeInHead(head.toString('latin1', Math.max(0, known - 1)))) return this.#fail('malformed');
      this.#beginning = head;
      return bytes.length;
    }
    this.#beginning = undefined;
    this.#lineBreaks = 0;
    return this.#begin(
      head.toString('latin1', 0, length + 2),
      bytes,
      start + length + END_OF_HEAD.length - known,
    );
  }

  #begin(text: string, bytes: Buffer, at: number): number {
    if (this.#isTurnedAway(text, bytes.length - at)) return bytes.length;
    const head = parseRequestHead(text);
    if (typeof head === 'string') return this.#fail(head);
    if (head.method === 'CONNECT') return this.#fail('connect');
    const framing = framingOf(head);
    if (framing === undefined) return this.#fail('malformed');
    this.#takenAtOnce++;
    const request = new InboundRequest(head, framing, this);
    // First the bytes that came with the head: mostly they are the whole body.
    const after = this.#beginBody(request, bytes, at);
    if (after === undefined) return bytes.length;
    if (isFollowed(request, bytes, after)) return this.#fail('malformed');
    const answer = new Outgoing(this, framing.keepsAlive);
    this.#answers.push(answer);
    this.#writing ??= answer;
    if (this.#receiving !== undefined) this.#answerToReceiving = answer;
    this.#owner.accept(request, answer);
    return after;
  }

  /** Whether a request, after whose head so many bytes came, was answered without being read. */
  #isTurnedAway(text: string, rest: number): boolean {
    if (!this.#owner.isFull() || this.#answers.length > 0 || this.needsDrain) return false;
    const request = plainRequest(text);
    const refusal = request?.length === rest ? this.#owner.turnAway(request) : undefined;
    if (refusal === undefined) return false;
    this.#readingSinceMs = undefined;
    this.write(refusal, 'latin1');
    return true;
  }

  /** The place after what there is of the body; undefined when it is none. */
  #beginBody(request: InboundRequest, bytes: Buffer, at: number): number | undefined {
    const { length, isChunked, problem } = request.framing;
    if (!isChunked && length === 0) {
      this.#received(request);
    } else if (problem === undefined) {
      this.#receiving = request;
      this.#bodyDecoder = isChunked ? new ChunkedDecoder(REQUEST_RULES) : new LengthDecoder(length);
    }
    if (problem !== undefined) this.#discardsInput = true;
    if (this.#receiving === undefined) return at;
    const after = this.#takeBody(request, bytes, at);
    return this.#hasFailed ? undefined : after;
  }

  #takeBody(request: InboundRequest, bytes: Buffer, at: number): number {
    const after = this.#bodyDecoder.decode(bytes, at, bytes.length, request);
    if (typeof after === 'string') return this.#fail('malformed');
    if (this.#bodyDecoder.isDone) this.#received(request);
    return after;
  }

  #received(request: InboundRequest): void {
    this.#receiving = undefined;
    this.#answerToReceiving = undefined;
    this.#bodyDecoder = NO_BODY;
    this.#readingSinceMs = undefined;
    if (!request.framing.keepsAlive) this.#discardsInput = true;
    // Its reader may have had enough for now, but there is no more of it: what comes next is another request, or the
    // caller leaves.
    if (this.#socket.isPaused()) this.#socket.resume();
    request.complete();
  }

  /** Where it was not, `close` follows. */
  #wasWritten(error: Error | null | undefined): void {
    if (error === undefined || error === null) this.#firstHasLeft();
  }

  #firstHasLeft(): void {
    this.#writtenAnswers--;
    this.#answers.shift()?.close(true);
    this.#takeUpKept();
    this.#restIfDone();
  }

  #restIfDone(): void {
    const isAsked = !this.#isBetweenRequests || this.#readingSinceMs !== undefined;
    if (isAsked || this.#answers.length > 0 || this.#isTaking || this.#discardsInput) return;
    this.#restingSinceMs = performance.now();
    this.#owner.rested(this);
  }

  /** Bytes that are no request. An answer that is already on its way must not get an error written into it. */
  #fail(problem: Refusal): number {
    const owed = this.#lastOwed;
    this.#discardsInput = true;
    this.#hasFailed = true;
    this.#beginning = undefined;
    this.#readingSinceMs = undefined;
    const begun = this.#answers.filter(({ hasBegun }) => hasBegun);
    if (begun.some(({ isEnded }) => !isEnded) || !this.#socket.writable) this.destroy();
    // What is wrong with this one would be taken for the answer to one before it.
    else if (owed !== undefined) owed.keepsAlive = false;
    else if (begun.length > 0) this.endWith('');
    else this.#owner.refuse(this, problem);
    return Number.POSITIVE_INFINITY;
  }

  /** The last answer that is not written in its turn yet, to a request that came whole. */
  get #lastOwed(): Outgoing | undefined {
    return this.#answers.slice(this.#writtenAnswers).findLast((answer) => answer !== this.#answerToReceiving);
  }

  #end(): void {
    this.#hasEnded = true;
    if (this.#came === undefined) this.#endOfRequests();
    else this.takeWhatCame();
  }

  /**
   * The caller sends nothing more. That alone does not mean that it is gone: it gets the answers to the requests that
   * came whole, unless a write fails.
   */
  #endOfRequests(): void {
    const owed = this.#lastOwed;
    const isAmidst = this.#beginning !== undefined || this.#receiving !== undefined;
    if (owed === undefined) {
      if (isAmidst && !this.#discardsInput) this.#fail('malformed');
      else this.#socket.end();
      return;
    }
    this.#discardsInput = true;
    this.#beginning = undefined;
    this.#readingSinceMs = undefined;
    this.#receiving?.cut();
    owed.keepsAlive = false;
    this.#probe ??= new PresenceProbe(this.#socket, () => this.#writing);
  }

  /** Ends our side, and reads what the caller still sends: it can read the answer once it has sent its request. */
  #endGently(): void {
    this.#socket.end();
    this.#socket.resume();
    if (this.#lingerTimer !== undefined) return;
    const { discardMs, lingerMs } = this.#owner.limits;
    this.#isDiscarding = this.#owner.beginDiscarding();
    this.#discardableBytes = this.#isDiscarding ? MOST_DISCARDED_BYTES : FEW_DISCARDED_BYTES;
    this.#destroyAfter(this.#isDiscarding ? discardMs : lingerMs);
  }

  #destroyAfter(milliseconds: number): void {
    clearTimeout(this.#lingerTimer);
    this.#lingerTimer = setTimeout(() => this.destroy(), milliseconds);
  }

  #close(): void {
    clearTimeout(this.#lingerTimer);
    if (this.#isDiscarding) this.#owner.endDiscarding();
    this.#probe?.stop();
    this.#restingSinceMs = undefined;
    this.#readingSinceMs = undefined;
    this.#owner.closed(this);
    this.#receiving?.cut();
    for (const answer of this.#answers.splice(0)) answer.close(false);
  }
}

/**
 * Whether bytes follow a request that closes its connection: for another server they may be its body, or a request.
 */
function isFollowed({ framing, isComplete }: InboundRequest, bytes: Buffer, after: number): boolean {
  return isComplete && !framing.keepsAlive && afterLineBreaks(bytes, after) < bytes.length;
}

/** Line breaks before a request belong to nothing (RFC 9112, 2.2). */
function afterLineBreaks(bytes: Buffer, from: number): number {
  let at = from;
  while (isLineBreak(bytes[at])) at++;
  return at;
}

function ignore(): void {}
