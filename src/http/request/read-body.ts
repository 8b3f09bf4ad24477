import { GatewayError, invalidRequest } from '../../ir/errors.ts';
import { isJsonObject, type JsonObject, type JsonReading, readJson } from '../../kit/json/json.ts';
import { JsonReader } from '../../kit/json/json-reader.ts';
import { runInTurns } from '../../kit/loop/turns.ts';
import { ValidUtf8, validUtf8 } from '../../kit/text/utf8-text.ts';
import { CallerGone, type HttpExchange } from '../exchange/http-exchange.ts';
import { type BodyMemory, isLargeBody, noMemory } from './body-memory.ts';

export interface BodyLimits {
  readonly maxBytes: number;
  readonly deadlineMs: number;
}

/** Bytes of a body that is parsed at once: that takes a fraction of a millisecond. */
const SMALL_BYTES = 16 * 1024;

/**
 * Reads a body that must be a JSON object: a small one that is here already at once. Throws 400, 408 and 413; never
 * reads beyond the limit.
 */
export function readJsonBody(
  exchange: HttpExchange,
  limits: BodyLimits,
  memory: BodyMemory,
): JsonObject | Promise<JsonObject> {
  const { request, exactNumbers } = exchange;
  if (request.framing.length > limits.maxBytes) throw tooLarge(limits);
  const taken = request.takeBody();
  if (taken !== undefined && taken.length <= SMALL_BYTES) {
    exactNumbers.look(taken);
    return objectOf(readJson(textOf(taken), undefined, exactNumbers));
  }
  return readSliced(exchange, taken, limits, memory);
}

async function readSliced(
  exchange: HttpExchange,
  taken: Buffer | undefined,
  limits: BodyLimits,
  memory: BodyMemory,
): Promise<JsonObject> {
  const { request, timing, exactNumbers } = exchange;
  if (isLargeBody(request.framing.length)) await timing.waitForBody(memory.waitFor(request.framing.length));
  const json = new JsonReader(undefined, exactNumbers);
  if (taken === undefined) await timing.waitForBody(readText(json, exchange, limits, memory));
  else {
    exactNumbers.look(taken);
    json.push(textOf(taken));
  }
  return objectOf(await runInTurns(json.end()));
}

function objectOf(reading: JsonReading): JsonObject {
  if (!reading.ok) throw unreadable(reading);
  if (!isJsonObject(reading.value)) throw new NoObjectBody(Array.isArray(reading.value));
  return reading.value;
}

function textOf(body: Buffer): string {
  try {
    return validUtf8(body);
  } catch {
    throw new UnreadableBody('is not valid UTF-8');
  }
}

/** Takes the body as it comes: what is large is decoded and looked at long before its end is here. */
function readText(
  json: JsonReader,
  { request, signal, exactNumbers }: HttpExchange,
  limits: BodyLimits,
  memory: BodyMemory,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const text = new ValidUtf8();
    let length = 0;
    const settle = (finish: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      request.stopReading();
      finish();
    };
    const timer = setTimeout(() => settle(() => reject(tooSlow())), limits.deadlineMs);
    const onAbort = (): void => settle(() => reject(signal.reason));
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) {
      onAbort();
      return;
    }
    const push = (decode: () => string): void => {
      try {
        json.push(decode());
      } catch {
        settle(() => reject(new UnreadableBody('is not valid UTF-8')));
      }
    };
    request.read({
      piece: (bytes) => {
        length += bytes.length;
        if (length > limits.maxBytes) settle(() => reject(tooLarge(limits)));
        else if (!memory.hasRoomFor(length)) settle(() => reject(noMemory()));
        else {
          exactNumbers.look(bytes);
          push(() => text.push(bytes));
        }
        return true;
      },
      end: () => {
        if (length === 0) settle(() => reject(new UnreadableBody('is empty: send a JSON object')));
        push(() => text.end());
        // Does nothing where the body was refused just now.
        settle(resolve);
      },
      cut: () => settle(() => reject(new CallerGone())),
    });
  });
}

function unreadable({ path, problem }: { path: string; problem: string }): GatewayError {
  return path === ''
    ? new UnreadableBody(`is not acceptable: ${problem}`)
    : invalidRequest([{ path, message: problem }]);
}

/** A body that is no JSON at all. */
export class UnreadableBody extends GatewayError {
  constructor(problem: string) {
    super('invalid-request', `The request body ${problem}`);
  }
}

export class NoObjectBody extends GatewayError {
  readonly isList: boolean;

  constructor(isList: boolean) {
    super('invalid-request', 'The request body must be a JSON object');
    this.isList = isList;
  }
}

function tooLarge({ maxBytes }: BodyLimits): GatewayError {
  return new GatewayError('payload-too-large', `Request payload too large: the limit is ${maxBytes} bytes`);
}

function tooSlow(): GatewayError {
  return new GatewayError('deadline', 'The request body did not arrive in time');
}
