import type { IncomingMessage } from 'node:http';
import { GatewayError, invalidRequest } from '../ir/errors.ts';
import { isJsonObject, type JsonObject } from '../kit/json.ts';
import { JsonReader } from '../kit/json-reader.ts';
import { runPromptly } from '../kit/turns.ts';
import { CallerGone } from './caller-gone.ts';

/** How much of a body is read, and for how long. */
export interface BodyLimits {
  readonly maxBytes: number;
  readonly deadlineMs: number;
}

/** True when a request announces a body. */
export function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || declaredLength(request) > 0;
}

/** Bytes that the request announces; 0 when it does not say. */
export function declaredLength(request: IncomingMessage): number {
  return Number(request.headers['content-length'] ?? 0);
}

/** Reads a body that must be a JSON object. Throws 400, 408 and 413; never reads beyond the limit. */
export async function readJsonBody(request: IncomingMessage, limits: BodyLimits): Promise<JsonObject> {
  const length = declaredLength(request);
  if (length > limits.maxBytes) throw tooLarge(limits);
  const isHere = request.complete && length > 0 && request.readableLength === length;
  const json = isHere ? takeText(request) : await readText(request, limits);
  const reading = await runPromptly(json.end());
  if (!reading.ok) throw unreadable(reading);
  if (!isJsonObject(reading.value)) throw badBody('must be a JSON object');
  return reading.value;
}

/** For whole bodies only: one that comes in pieces leaves a decoder with a memory of them. */
const DECODER = new TextDecoder('utf-8', { fatal: true });

/** Takes a body that came whole, together with its head: nothing has to be waited for, and no limit of time passes. */
function takeText(request: IncomingMessage): JsonReader {
  const json = new JsonReader();
  try {
    json.push(DECODER.decode(request.read() as Buffer));
  } catch {
    throw badBody('is not valid UTF-8');
  }
  return json;
}

/** Takes the body as it comes: what is large is decoded and looked at long before its end is here. */
function readText(request: IncomingMessage, limits: BodyLimits): Promise<JsonReader> {
  return new Promise((resolve, reject) => {
    const json = new JsonReader();
    const decoder = new TextDecoder('utf-8', { fatal: true });
    let length = 0;
    const settle = (finish: () => void): void => {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('close', onClose);
      request.pause();
      finish();
    };
    const timer = setTimeout(() => settle(() => reject(tooSlow())), limits.deadlineMs);
    const push = (decode: () => string): void => {
      try {
        json.push(decode());
      } catch {
        settle(() => reject(badBody('is not valid UTF-8')));
      }
    };
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > limits.maxBytes) settle(() => reject(tooLarge(limits)));
      else push(() => decoder.decode(chunk, { stream: true }));
    };
    const onEnd = (): void => {
      if (length === 0) settle(() => reject(badBody('is empty: send a JSON object')));
      push(() => decoder.decode());
      // Does nothing where the body was refused just now.
      settle(() => resolve(json));
    };
    const onClose = (): void => settle(() => reject(new CallerGone()));
    request.on('data', onData).on('end', onEnd).on('close', onClose);
  });
}

function unreadable({ path, problem }: { path: string; problem: string }): GatewayError {
  return path === ''
    ? badBody(`is not acceptable: ${problem}`)
    : invalidRequest([{ path, message: problem }]);
}

function badBody(problem: string): GatewayError {
  return new GatewayError('invalid-request', `The request body ${problem}`);
}

function tooLarge({ maxBytes }: BodyLimits): GatewayError {
  return new GatewayError('payload-too-large', `Request payload too large: the limit is ${maxBytes} bytes`);
}

function tooSlow(): GatewayError {
  return new GatewayError('deadline', 'The request body did not arrive in time');
}
