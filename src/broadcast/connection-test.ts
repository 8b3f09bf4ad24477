import type { Egress, EgressReply, EgressRequest } from '../net/egress/egress.ts';
import { EgressProblem } from '../net/egress/egress-problem.ts';
import type { DestinationTarget, ObjectTarget, OtlpTarget, RowTarget } from './destination-target.ts';
import { objectFolder } from './object-folder.ts';
import { encodeOtlp } from './otlp/encode.ts';
import { s3Request } from './s3-request.ts';

export interface ConnectionOutcome {
  readonly isPassed: boolean;
  /** HTTP status of the answer; null without one. */
  readonly status: number | null;
  /** Why it failed, without secrets and addresses; null = it did not. */
  readonly problem: string | null;
}

/** Whether a destination can be written to. `mayBePrivate`: the operator's own file names it. */
export type TestConnection = (target: DestinationTarget, mayBePrivate: boolean) => Promise<ConnectionOutcome>;

const LIMITS = { totalMs: 10_000, maxBytes: 64 * 1024, maxRedirects: 0 };

const TEST_HEADER = { 'x-test-connection': 'true' };

type Send = (
  url: string,
  request: Pick<EgressRequest, 'method' | 'headers' | 'body'>,
) => Promise<EgressReply>;

/** Makes tests over the way out. `newId`: part of the name of the object that a test of a bucket writes. */
export function connectionTest(egress: Egress, newId: () => string, now: () => number): TestConnection {
  return async (target, mayBePrivate) => {
    const signal = AbortSignal.timeout(LIMITS.totalMs);
    const send: Send = (url, request) => {
      const whole = { ...request, limits: LIMITS, signal };
      return mayBePrivate ? egress.call(url, whole) : egress.fetch(url, whole);
    };
    try {
      switch (target.writer) {
        case 'otlp':
          return await emptyTraces(target, send);
        case 'rows':
          return await emptyQuery(target, send);
        case 'objects':
          return await smallObject(target, send, newId(), now());
      }
    } catch (problem) {
      if (signal.aborted) return failed(null, 'no answer within the time limit');
      if (problem instanceof EgressProblem) return failed(null, problem.message);
      throw problem;
    }
  };
}

/** Sends traces with nothing in them. A receiver that answers 400 has read them, and knows its caller. */
async function emptyTraces(target: OtlpTarget, send: Send): Promise<ConnectionOutcome> {
  const { url, method, encoding, headers } = target;
  const { body, contentType } = encodeOtlp('ExportTraceServiceRequest', { resourceSpans: [] }, encoding);
  const sent = { ...headers, ...TEST_HEADER, 'content-type': contentType };
  const { status } = await send(url, { method, headers: sent, body });
  return status === 400 ? { isPassed: true, status, problem: null } : outcomeOf(status);
}

/** Reads no rows of the table, which must be there. */
async function emptyQuery(
  { url, database, table, headers }: RowTarget,
  send: Send,
): Promise<ConnectionOutcome> {
  const query = encodeURIComponent(`SELECT * FROM ${database}.${table} LIMIT 0`);
  const { status } = await send(`${url}/?query=${query}`, {
    method: 'GET',
    headers: { ...headers, ...TEST_HEADER },
  });
  return outcomeOf(status);
}

/** Writes a small object, and removes it. */
async function smallObject(
  target: ObjectTarget,
  send: Send,
  id: string,
  nowMs: number,
): Promise<ConnectionOutcome> {
  const folder = objectFolder(target, { atMs: nowMs, apiKeyName: null });
  const key = `${folder === '' ? '' : `${folder}/`}connection-test-${id}.json`;
  for (const { method, body } of [
    { method: 'PUT', body: '{"resourceSpans":[]}' },
    { method: 'DELETE', body: '' },
  ] as const) {
    const { url, headers } = await s3Request(target, { method, key, body }, nowMs);
    const { status } = await send(url, { method, headers: { ...headers, ...TEST_HEADER }, body });
    const outcome = outcomeOf(status);
    if (!outcome.isPassed) return outcome;
  }
  return { isPassed: true, status: 200, problem: null };
}

function outcomeOf(status: number): ConnectionOutcome {
  if (status >= 200 && status < 300) return { isPassed: true, status, problem: null };
  return failed(status, `the destination answered with status ${status}`);
}

function failed(status: number | null, problem: string): ConnectionOutcome {
  return { isPassed: false, status, problem };
}
