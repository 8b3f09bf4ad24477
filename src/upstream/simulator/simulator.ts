import { setTimeout as delay } from 'node:timers/promises';
import {
  type FormatDialect,
  hasConversations,
  type InboundDialect,
  type ReplyContext,
} from '../../dialects/dialect.ts';
import { GatewayError } from '../../ir/errors.ts';
import { Fold } from '../../ir/folding/fold.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { Expiry } from '../../net/transport/deadlines.ts';
import { expiryProblem } from '../../net/transport/deadlines.ts';
import type { Transport, TransportCall, TransportReply } from '../../net/transport/transport-call.ts';
import { answerOf } from './answer.ts';
import { type Behaviour, behaviourOf } from './behaviours.ts';
import { decisionScript } from './decisions.ts';
import { Dice } from './dice.ts';
import { scriptOf } from './script.ts';
import { embeddingScript } from './vectors.ts';

export interface SimulatorDependencies {
  /** The simulator reads requests and writes answers with the gateway's own code. */
  readonly dialects: readonly FormatDialect[];
  readonly vendor: string;
  readonly clock: Clock;
  /** Waits, or rejects when aborted. Given by tests that have no time. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

const NAME = 'Simulator';

const encoder = new TextEncoder();

/**
 * A labelled stand-in for an upstream, as a transport: takes the rendered request, answers from a deterministic
 * script, and writes the answer with the real encoders, so that everything in between is what a real upstream meets.
 * `behaviours.ts` says which model name does what.
 */
export function createSimulator(dependencies: SimulatorDependencies): Transport {
  const sleep = dependencies.sleep ?? sleepOf;
  return {
    async open(call) {
      call.signal.throwIfAborted();
      const dialect = dialectAt(call.url, dependencies.dialects);
      const body = bodyOf(call.body);
      const model = typeof body.model === 'string' ? body.model : '';
      const behaviour = behaviourOf(model);
      await pause(sleep, behaviour.firstByteMs, 'firstByte', call);
      try {
        if (behaviour.failure !== undefined) throw failureOf(behaviour.failure);
        const request = dialect.inbound.parseRequest(body, { vendor: dependencies.vendor });
        return answer(request, model, behaviour, dialect, { ...dependencies, sleep }, call);
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        return refusal(error, dialect.inbound, dependencies.vendor);
      }
    },
    close: async () => {},
  };
}

function dialectAt(url: string, dialects: SimulatorDependencies['dialects']): FormatDialect {
  const { pathname } = new URL(url);
  const dialect = dialects.find(({ upstream }) => upstream.path('', false) === pathname);
  if (dialect === undefined) throw new Error('the simulator is called below a path that no dialect has');
  return dialect;
}

/** The body is the gateway's own work: it is an object, and may be nested deeper than what callers may send. */
function bodyOf(body: TransportCall['body']): JsonObject {
  return JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString()) as JsonObject;
}

function failureOf({ kind, message, retryAfterSeconds }: NonNullable<Behaviour['failure']>): GatewayError {
  return new GatewayError(kind, message, { retryAfterSeconds });
}

function refusal(error: GatewayError, dialect: InboundDialect, vendor: string): TransportReply {
  const body = dialect.encodeError(error, { vendor, generationId: null });
  return {
    status: error.status,
    headers: {
      'content-type': 'application/json',
      ...(error.retryAfterSeconds !== undefined && { 'retry-after': String(error.retryAfterSeconds) }),
    },
    chunks: once(JSON.stringify(body)),
  };
}

function answer(
  request: GenerationRequest,
  model: string,
  behaviour: Behaviour,
  dialect: FormatDialect,
  dependencies: Required<SimulatorDependencies>,
  call: TransportCall,
): TransportReply {
  const script = scriptFor(request, model, behaviour, dialect);
  const played = behaviour.cutsOff === true ? script.slice(0, Math.ceil(script.length / 2)) : script;
  const context = contextOf(request, model, dependencies, call.body);
  if (!request.stream || !hasConversations(dialect)) {
    const body = JSON.stringify(
      dialect.inbound.encodeBody(new Fold().pushAll(script.flat()).result(), context),
    );
    const sent = behaviour.cutsOff === true ? body.slice(0, body.length / 2) : body;
    return { status: 200, headers: { 'content-type': 'application/json' }, chunks: once(sent) };
  }
  const writer = dialect.inbound.createEncoder(context);
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    chunks: play(),
  };

  async function* play(): AsyncGenerator<Uint8Array, void, undefined> {
    for (const [index, events] of played.entries()) {
      if (index > 0) await pause(dependencies.sleep, behaviour.pieceMs, 'idle', call);
      call.signal.throwIfAborted();
      const text = writer.encode(events);
      if (text !== '') yield encoder.encode(text);
    }
  }
}

/** The events of an answer, in the batches in which they are sent. */
function scriptFor(
  request: GenerationRequest,
  model: string,
  behaviour: Behaviour,
  dialect: FormatDialect,
): ReturnType<typeof scriptOf> {
  const { embedding, decision } = request;
  if (embedding !== undefined) return [embeddingScript(embedding, model)];
  if (decision !== undefined) return [decisionScript(decision, JSON.stringify(request.body), model)];
  return hasConversations(dialect)
    ? scriptOf(answerOf(request, behaviour, dialect.facts), request, model)
    : [];
}

function contextOf(
  request: GenerationRequest,
  model: string,
  dependencies: SimulatorDependencies,
  body: TransportCall['body'],
): ReplyContext {
  const token = new Dice(endsOf(body)).token(20);
  return {
    vendor: dependencies.vendor,
    request,
    generationId: `gen-simulated-${token}`,
    createdAtMs: dependencies.clock.now(),
    now: () => dependencies.clock.now(),
    model,
    provider: NAME,
    serviceTier: 'default',
  };
}

/** Characters at either end of a body that its answer's id is made from: files between them are not read once more. */
const END_LENGTH = 32_768;

function endsOf(body: TransportCall['body']): string {
  const ends = [body.slice(0, END_LENGTH), body.slice(-END_LENGTH)];
  const texts = ends.map((end) => (typeof end === 'string' ? end : Buffer.from(end).toString()));
  return [body.length, ...texts].join(' ');
}

async function* once(text: string): AsyncGenerator<Uint8Array, void, undefined> {
  yield encoder.encode(text);
}

/** Waits as an upstream makes one wait: no longer than the call's own limit allows. */
async function pause(
  sleep: Required<SimulatorDependencies>['sleep'],
  milliseconds: number,
  limit: Expiry,
  call: TransportCall,
): Promise<void> {
  await sleep(Math.min(milliseconds, call.timeouts[limit]), call.signal);
  if (milliseconds > call.timeouts[limit]) throw expiryProblem(limit);
}

async function sleepOf(milliseconds: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(milliseconds, undefined, { signal });
  } catch {
    throw signal.reason;
  }
}
