import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { GatewayError, invalidRequest } from '../ir/errors.ts';
import { isJsonObject, type JsonObject, readJson } from '../kit/json.ts';
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
  if (declaredLength(request) > limits.maxBytes) throw tooLarge(limits);
  const bytes = await readBytes(request, limits);
  if (bytes.length === 0) throw badBody('is empty: send a JSON object');
  if (!isUtf8(bytes)) throw badBody('is not valid UTF-8');
  const text = bytes.toString('utf8');
  const reading = readJson(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  if (!reading.ok) throw unreadable(reading);
  if (!isJsonObject(reading.value)) throw badBody('must be a JSON object');
  return reading.value;
}

function readBytes(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const settle = (finish: () => void): void => {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('close', onClose);
      request.pause();
      finish();
    };
    const timer = setTimeout(() => settle(() => reject(tooSlow())), limits.deadlineMs);
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > limits.maxBytes) settle(() => reject(tooLarge(limits)));
      else chunks.push(chunk);
    };
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks, length)));
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
