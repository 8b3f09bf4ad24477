import type { ConversationFormat, CountingInbound, FormatDialect } from '../../dialects/dialect.ts';
import type { GenerationInput } from '../../gateway/request/generation-input.ts';
import { GatewayError, invalidRequest } from '../../ir/errors.ts';
import type { RequestFormat } from '../../ir/items.ts';
import { writeJson } from '../../kit/json/stringify-sliced.ts';
import { BATCH_POINT } from '../../kit/loop/cohort.ts';
import { inTurn } from '../../kit/loop/turns.ts';
import { vendorHeader } from '../access/vendor-header.ts';
import { AbortGrace } from '../exchange/abort-grace.ts';
import { logOwnFault } from '../exchange/error-reply.ts';
import { replyWithStream } from '../exchange/sse-reply.ts';
import { unknownParametersIn } from '../request/unknown-parameters.ts';
import type { Call as AnyCall } from '../route.ts';
import { attributionOf } from './attribution.ts';
import {
  apiVersionOf,
  betasOf,
  cacheWish,
  isInsideFusion,
  MAX_SESSION_ID,
  SESSION_HEADER,
  wantsMetadata,
} from './generation-headers.ts';

type Call = AnyCall<'generations.run'>;

type Handler = (call: Call) => Promise<void>;

/** The handler of one generation format: a whole answer, or a stream when the body asks for one. */
export function generateHandler(dialect: ConversationFormat): Handler {
  return (call) => (call.body.stream === true ? streamed(call, dialect) : whole(call, dialect));
}

/** The handler of a format whose answers are never streamed. */
export function wholeHandler(dialect: FormatDialect): Handler {
  return (call) => whole(call, dialect);
}

/** The handler of a request that only counts the tokens of a prompt. */
export function countTokensHandler(format: RequestFormat, { encodeCount }: CountingInbound): Handler {
  return async (call) => {
    const { services, exchange, times } = call;
    const run = new GenerationRun(call, format);
    try {
      const inputTokens = await run.withAbortGrace(services.gateway.countTokens(run.input));
      exchange.reply.json(200, encodeCount(inputTokens));
      await exchange.reply.flushed(exchange.signal, times.abortGraceMs);
    } finally {
      run.end();
    }
  };
}

async function whole(call: Call, { name, inbound }: FormatDialect): Promise<void> {
  const { services, exchange, times } = call;
  const run = new GenerationRun(call, name);
  try {
    const { result, context } = await run.withAbortGrace(services.gateway.complete(run.input));
    await BATCH_POINT;
    const encoding = inTurn(services.clock, () => inbound.encodeBody(result, context));
    const body = encoding instanceof Promise ? await encoding : encoding;
    const writing = writeJson(body, exchange.exactNumbers);
    exchange.reply.jsonText(200, writing instanceof Promise ? await writing : writing);
    const flushing = exchange.reply.flushed(exchange.signal, times.abortGraceMs);
    if (flushing !== undefined) await flushing;
  } finally {
    run.end();
  }
}

async function streamed(call: Call, { name, inbound }: ConversationFormat): Promise<void> {
  const { services, exchange, settings, times } = call;
  const run = new GenerationRun(call, name);
  try {
    await replyWithStream(exchange.reply, {
      opening: services.gateway.stream(run.input),
      createEncoder: (context) => inbound.createEncoder(context),
      contextWithoutEndpoint: () => services.gateway.contextWithoutEndpoint(run.input),
      streamedFailures: inbound.streamedFailures,
      comment: `${settings.vendor.toUpperCase()} PROCESSING`,
      report: (thrown) => logOwnFault(thrown, exchange, services.log),
      signal: exchange.signal,
      times,
    });
  } finally {
    run.end();
  }
}

/** Node keeps the timers of each duration in a list: rounded up, those of all generations share one. */
const DEADLINE_STEP_MS = 50;

/** One generation under the gateway's deadline. `end` must be called once its reply has left. */
export class GenerationRun {
  readonly input: GenerationInput;
  readonly #call: Call;
  readonly #timer: NodeJS.Timeout;
  #isReplied = false;
  #resolveReplied: (() => void) | undefined;
  #untilReplied: Promise<void> | undefined;
  #waits: AbortGrace | undefined;

  constructor(call: Call, format: RequestFormat) {
    const { exchange, settings } = call;
    this.#call = call;
    this.input = inputOf(call, format, this.#replied);
    const left = settings.requestDeadlineMs - exchange.timing.elapsed();
    this.#timer = setTimeout(
      () => exchange.abort(new GatewayError('deadline', 'Operation timed out. Please try again later.')),
      Math.max(0, Math.ceil(left / DEADLINE_STEP_MS) * DEADLINE_STEP_MS),
    );
    exchange.routed = true;
  }

  /** Waits for the gateway, after an abort only as long as it may take to wind up. */
  withAbortGrace<T>(work: Promise<T>): Promise<T> {
    const { exchange, times } = this.#call;
    this.#waits ??= new AbortGrace(exchange.signal, times.abortGraceMs);
    return this.#waits.wait(work);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#waits?.close();
    this.#isReplied = true;
    this.#resolveReplied?.();
  }

  readonly #replied = (): Promise<void> => {
    this.#untilReplied ??= new Promise((resolve) => {
      if (this.#isReplied) resolve();
      else this.#resolveReplied = resolve;
    });
    return this.#untilReplied;
  };
}

function inputOf(call: Call, format: RequestFormat, replied: () => Promise<void>): GenerationInput {
  const { exchange, caller, headers, body, settings, rawQuery } = call;
  return {
    format,
    caller,
    body,
    exactNumbers: exchange.exactNumbers,
    generationId: exchange.requestId,
    acceptedAtMs: exchange.acceptedAtMs,
    wantsMetadata: wantsMetadata(headers, settings.vendor),
    cache: cacheWish(headers, settings.vendor),
    header: (name, value) => exchange.addHeader(vendorHeader(settings.vendor, name), value),
    sessionId: sessionHeader(call),
    betas: betasOf(headers),
    apiVersion: apiVersionOf(headers),
    isInsideFusion: isInsideFusion(headers, settings.vendor),
    unknownParameters: rawQuery.size === 0 ? undefined : unknownParametersIn(rawQuery, null),
    attribution: attributionOf(headers, settings.vendor),
    signal: exchange.signal,
    replied,
    timing: exchange.timing,
  };
}

function sessionHeader({ headers, body }: Call): string | undefined {
  const given = headers[SESSION_HEADER];
  if (given === undefined || given === '' || typeof body.session_id === 'string') return undefined;
  if (given.length <= MAX_SESSION_ID) return given;
  throw invalidRequest([{ path: SESSION_HEADER, message: `must have at most ${MAX_SESSION_ID} characters` }]);
}
