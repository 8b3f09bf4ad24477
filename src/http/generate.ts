import type { InboundDialect } from '../dialects/dialect.ts';
import type { GenerationInput } from '../gateway/generation.ts';
import { GatewayError, invalidRequest } from '../ir/errors.ts';
import type { Format } from '../ir/items.ts';
import { stringifySliced } from '../kit/stringify-sliced.ts';
import { inTurn, runPromptly } from '../kit/turns.ts';
import { Abandonment } from './abandonment.ts';
import { attributionOf } from './attribution.ts';
import { logOwnFault } from './error-reply.ts';
import { betasOf, MAX_SESSION_ID, SESSION_HEADER, wantsMetadata } from './generation-headers.ts';
import type { Call, Handler } from './route.ts';
import { replyWithStream } from './sse-reply.ts';

/** The handler of one generation format: a whole answer, or a stream when the body asks for one. */
export function generateHandler(dialect: InboundDialect): Handler {
  return (call) =>
    generation(call, dialect.format, (input) =>
      call.body.stream === true ? streamed(call, dialect, input) : whole(call, dialect, input),
    );
}

/** The handler of `POST /messages/count_tokens`. */
export const countTokensHandler: Handler = (call) =>
  generation(call, 'messages', async (input) => {
    const { services, exchange, times } = call;
    const inputTokens = await windingUp(call, services.gateway.countTokens(input));
    exchange.reply.json(200, { input_tokens: inputTokens });
    await exchange.reply.flushed(exchange.signal, times.abortGraceMs);
  });

async function whole(call: Call, dialect: InboundDialect, input: GenerationInput): Promise<void> {
  const { services, exchange, times } = call;
  const { result, context } = await windingUp(call, services.gateway.complete(input));
  const body = await inTurn(services.clock, () => dialect.encodeBody(result, context));
  const pieces = await runPromptly(stringifySliced(body));
  exchange.reply.jsonText(200, pieces.join(''));
  await exchange.reply.flushed(exchange.signal, times.abortGraceMs);
}

function streamed(call: Call, dialect: InboundDialect, input: GenerationInput): Promise<void> {
  const { services, exchange, settings, times } = call;
  return replyWithStream(exchange.reply, {
    opening: services.gateway.stream(input),
    createEncoder: (context) => dialect.createEncoder(context),
    contextWithoutEndpoint: () => services.gateway.contextWithoutEndpoint(input),
    comment: `${settings.vendor.toUpperCase()} PROCESSING`,
    report: (thrown) => logOwnFault(thrown, exchange, services.log),
    signal: exchange.signal,
    times,
  });
}

/** Node keeps the timers of each duration in a list: rounded up, those of all generations share one. */
const DEADLINE_STEP_MS = 50;

/** Runs a generation under the gateway's deadline. */
export async function generation(
  call: Call,
  format: Format,
  run: (input: GenerationInput) => Promise<void>,
): Promise<void> {
  const { exchange, settings } = call;
  let replied = () => {};
  const untilReplied = new Promise<void>((resolve) => {
    replied = resolve;
  });
  const input = inputOf(call, format, untilReplied);
  const left = settings.requestDeadlineMs - exchange.timing.elapsed();
  const timer = setTimeout(
    () => exchange.abort(new GatewayError('deadline', 'Operation timed out. Please try again later.')),
    Math.max(0, Math.ceil(left / DEADLINE_STEP_MS) * DEADLINE_STEP_MS),
  );
  exchange.routed = true;
  try {
    await run(input);
  } finally {
    clearTimeout(timer);
    replied();
  }
}

function inputOf(call: Call, format: Format, replied: Promise<void>): GenerationInput {
  const { exchange, caller, headers, body, settings } = call;
  if (caller === undefined) throw new Error('a generation route must require a key');
  const sessionId = sessionHeader(call);
  const betas = betasOf(headers);
  return {
    format,
    caller,
    body,
    generationId: exchange.requestId,
    acceptedAtMs: exchange.acceptedAtMs,
    wantsMetadata: wantsMetadata(headers, settings.vendor),
    ...(sessionId !== undefined && { sessionId }),
    ...(betas !== undefined && { betas }),
    attribution: attributionOf(headers, settings.vendor),
    signal: exchange.signal,
    replied,
    timing: exchange.timing,
  };
}

/** The session id of the header, where the body has none. */
function sessionHeader({ headers, body }: Call): string | undefined {
  const given = headers[SESSION_HEADER];
  if (given === undefined || given === '' || typeof body.session_id === 'string') return undefined;
  if (given.length <= MAX_SESSION_ID) return given;
  throw invalidRequest([{ path: SESSION_HEADER, message: `must have at most ${MAX_SESSION_ID} characters` }]);
}

/** Waits for the gateway, after an abort only as long as it may take to wind up. */
async function windingUp<T>({ exchange, times }: Call, work: Promise<T>): Promise<T> {
  const waits = new Abandonment(exchange.signal, times.abortGraceMs);
  try {
    return await waits.wait(work);
  } finally {
    waits.close();
  }
}
