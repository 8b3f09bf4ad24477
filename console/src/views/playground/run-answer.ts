import { send } from '../../api/request.ts';
import { type Answer, EMPTY_ANSWER, hasContent } from './answer.ts';
import { EventStreamReader } from './event-stream.ts';
import type { Format } from './format.ts';

/** An answer with its times, in milliseconds since the request was sent. */
export interface Progress {
  readonly answer: Answer;
  readonly generationId: string | null;
  readonly firstTokenMs: number | null;
  readonly totalMs: number;
}

/** The request id of all generations that the console sends: it tells them apart from those of clients. */
export const CONSOLE_REQUEST_ID = 'console';

interface Options {
  readonly format: Format;
  readonly body: unknown;
  /** Hash of the key that pays; null = the key that is signed in. */
  readonly actAs: string | null;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
}

/** Sends a request and reads its stream to the end. Throws if it is refused, breaks off, or is stopped. */
export async function runAnswer({ format, body, actAs, signal, onProgress }: Options): Promise<void> {
  const sentAt = performance.now();
  const response = await send(format.path, {
    method: 'POST',
    body,
    signal,
    headers: { 'X-Request-Id': CONSOLE_REQUEST_ID, ...(actAs !== null && { 'X-Console-Key': actAs }) },
  });
  const generationId = response.headers.get('x-generation-id');
  const events = new EventStreamReader();
  let answer = EMPTY_ANSWER;
  let firstTokenMs: number | null = null;
  const pieces = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const piece = await pieces?.read();
    if (piece === undefined || piece.done) return;
    answer = events.push(piece.value).reduce<Answer>(format.read, answer);
    const totalMs = performance.now() - sentAt;
    if (firstTokenMs === null && hasContent(answer)) firstTokenMs = totalMs;
    onProgress({ answer, generationId, firstTokenMs, totalMs });
  }
}
