import { describe, expect, it } from 'vitest';
import { gemini } from '../../dialects/gemini/index.ts';
import { GatewayError } from '../../ir/errors.ts';
import { isJsonObject } from '../../kit/json/json.ts';
import {
  closedEarly,
  socketProblem,
  TransportProblem,
  type TransportReason,
} from '../../net/http1/client/transport-problem.ts';
import { expiryProblem } from '../../net/transport/deadlines.ts';
import { StaleConnection } from '../../net/transport/transport-call.ts';
import { UpstreamFailure } from '../upstream.ts';
import {
  type FailureScope,
  failureOfEvent,
  failureOfProblem,
  failureOfReply,
  rewriteTerminal,
} from './failure.ts';

const NOW = Date.parse('2025-06-01T00:00:00Z');

const SCOPE: FailureScope = {
  provider: { name: 'Acme' },
  confidential: { secrets: ['CANARY-7f3a91'], host: 'llm.example.com' },
  readError(body) {
    const error = isJsonObject(body) ? body.error : undefined;
    if (!isJsonObject(error) || typeof error.message !== 'string') return undefined;
    return { message: error.message, ...(typeof error.code === 'string' && { code: error.code }) };
  },
  now: () => NOW,
};

function failure(status: number, error: object = { message: 'upstream words' }, headers = {}) {
  return failureOfReply({ status, headers, body: JSON.stringify({ error }) }, SCOPE);
}

describe('statuses of an upstream', () => {
  it.each([
    [400, 'invalid-request', 400],
    [404, 'not-found', 404],
    [413, 'payload-too-large', 413],
    [422, 'unprocessable', 422],
    [401, 'upstream-unavailable', 502],
    [403, 'upstream-unavailable', 502],
    [402, 'upstream-unavailable', 502],
    [405, 'upstream-unavailable', 502],
    [409, 'upstream-unavailable', 502],
    [408, 'upstream-timeout', 524],
    [418, 'upstream-unavailable', 502],
    [429, 'rate-limited', 429],
    [500, 'upstream-unavailable', 502],
    [502, 'upstream-unavailable', 502],
    [503, 'overloaded', 503],
    [504, 'upstream-timeout', 524],
    [524, 'upstream-timeout', 524],
    [529, 'upstream-overloaded', 529],
    [302, 'upstream-unavailable', 502],
  ] as const)('%i is %s', (status, kind, told) => {
    const found = failure(status);
    expect(found.kind).toBe(kind);
    expect(found.status).toBe(told);
    expect(found.upstreamStatus).toBe(status);
    expect(found.metadata?.provider_name).toBe('Acme');
    expect(found.metadata?.error_type).toBe(found.row.errorType);
  });

  it("passes the upstream's message on only if the caller can act on it", () => {
    expect(failure(400).message).toBe('upstream words');
    expect(failure(422).message).toBe('upstream words');
    expect(failure(500).message).toBe('Provider returned error: the provider failed');
    expect(failure(401).message).not.toContain('upstream words');
    expect(failure(408).message).toBe('Request timed out. Please try again later. (the provider timed out)');
  });

  it.each([
    { message: 'x', code: 'context_length_exceeded' },
    { message: "This model's maximum context length is 8192 tokens." },
    { message: 'prompt is too long: 250000 tokens > 200000 maximum' },
    { message: 'Input is too long for requested model.' },
  ])('a 400 about the context: %j', (error) => {
    expect(failure(400, error).kind).toBe('context-length');
  });

  it('overload: by code at any 5xx, by words not at 503', () => {
    expect(failure(500, { message: 'Overloaded', code: 'overloaded_error' }).status).toBe(529);
    expect(failure(502, { message: 'The engine is currently overloaded' }).status).toBe(529);
    expect(failure(503, { message: 'The engine is currently overloaded' }).status).toBe(503);
    expect(failure(503, { message: 'x', code: 'overloaded_error' }).status).toBe(529);
    expect(failure(400, { message: 'methods are overloaded here' }).status).toBe(400);
  });
});

describe('what the caller gets', () => {
  it('never holds the credential, wherever the upstream put it', () => {
    for (const status of [400, 401, 403, 422, 500]) {
      const found = failure(status, {
        message: 'bad key CANARY-7f3a91 in Authorization: Bearer CANARY-7f3a91',
        code: 'CANARY-7f3a91',
      });
      expect(JSON.stringify([found.message, found.metadata])).not.toContain('CANARY');
    }
  });

  it('does not echo pages', () => {
    const page = `<!DOCTYPE html><html><body>${'x'.repeat(100_000)}</body></html>`;
    const found = failureOfReply({ status: 500, headers: {}, body: page }, SCOPE);
    expect(found.metadata).toEqual({ provider_name: 'Acme', error_type: 'provider_unavailable' });
    expect(found.message).toBe('Provider returned error: the provider failed');
    expect(failure(400, { message: page }).message).toBe(
      'Invalid request parameters: the provider rejected the request',
    );
  });

  it('keeps at most 2 kB of the raw body, cut between characters', () => {
    const found = failureOfReply({ status: 500, headers: {}, body: '€'.repeat(5000) }, SCOPE);
    const raw = String(found.metadata?.raw);
    expect(Buffer.byteLength(raw)).toBeLessThanOrEqual(2048);
    expect(Buffer.byteLength(raw)).toBeGreaterThan(2000);
    expect(raw).toMatch(/^€+$/);
  });

  it('is one line of bounded length', () => {
    const found = failure(400, { message: `first\r\nsecond\u2028third\u0000 ${'long '.repeat(1000)}` });
    expect(found.message).toMatch(/^first second third long/);
    expect(found.message.length).toBeLessThanOrEqual(600);
  });

  it('names the code of the upstream', () => {
    expect(failure(429, { message: 'slow down', code: 'tpm_limit' }).metadata?.provider_code).toBe(
      'tpm_limit',
    );
  });
});

describe('Retry-After', () => {
  it.each([
    ['0.2', 1],
    ['86400', 300],
    ['Sat, 31 May 2025 00:00:00 GMT', 0],
    ['soon', undefined],
  ])('of %s is whole seconds, and bounded', (value, seconds) => {
    expect(failure(429, { message: 'x' }, { 'retry-after': value }).retryAfterSeconds).toBe(seconds);
  });

  it('is on the failure', () => {
    expect(failure(429, { message: 'x' }, { 'retry-after': '7' }).retryAfterSeconds).toBe(7);
  });
});

describe('broken exchanges', () => {
  it.each([
    ['connect', 502],
    ['reset', 502],
    ['timeout', 524],
    ['too-large', 502],
    ['encoding', 502],
  ] as const)('%s', (reason: TransportReason, status) => {
    const found = failureOfProblem(new TransportProblem(reason, 'the cause'), 0, SCOPE);
    const stale = failureOfProblem(new StaleConnection(), 0, SCOPE);
    expect([found.isStale, stale.isStale, stale.errno]).toEqual([false, true, 'ECONNRESET']);
    expect(found.status).toBe(status);
    expect(found.message).toContain('the cause');
    expect(found.upstreamStatus).toBe(0);
  });

  it.each([
    ['a refused connection', socketProblem(coded('ECONNREFUSED'), false), true],
    ['a name that is not found', socketProblem(coded('ENOTFOUND'), false), true],
    ['a network that is unreachable', socketProblem(coded('ENETUNREACH'), false), true],
    ['a certificate that is not trusted', socketProblem(coded('CERT_HAS_EXPIRED'), false), true],
    ['a handshake that is broken off', socketProblem(coded('ECONNRESET'), false), true],
    ['no connection in time, says the system', socketProblem(coded('ETIMEDOUT'), false), true],
    ['no connection in time', expiryProblem('connect'), true],
    ['a reset after the request was sent', socketProblem(coded('ECONNRESET'), true), false],
    ['a request that is never acknowledged', socketProblem(coded('ETIMEDOUT'), true), false],
    ['a close after the request was sent', closedEarly(), false],
    ['no answer in time', expiryProblem('firstByte'), false],
    ['an answer that took too long', expiryProblem('total'), false],
    ['an answer that is not valid HTTP', new TransportProblem('reset', 'not valid HTTP'), false],
  ])('say whether it is the connection itself: %s', (_, problem, isConnection) => {
    expect(failureOfProblem(problem, 0, SCOPE).isConnection).toBe(isConnection);
  });
});

function coded(code: string): Error {
  return Object.assign(new Error(code), { code });
}

describe('errors inside an answer', () => {
  it('become failures of this upstream, without its secrets', () => {
    const error = new GatewayError('rate-limited', 'too fast, CANARY-7f3a91', {
      metadata: { raw: 'CANARY-7f3a91', provider_code: 'x' },
      retryAfterSeconds: 1000,
    });
    const found = failureOfEvent(error, 200, SCOPE);
    expect(found).toBeInstanceOf(UpstreamFailure);
    expect(found.kind).toBe('rate-limited');
    expect(found.retryAfterSeconds).toBe(300);
    expect(found.metadata).toMatchObject({ provider_name: 'Acme', provider_code: 'x', raw: '[redacted]' });
    expect(found.message).not.toContain('CANARY');
  });

  it.each(['authentication', 'permission', 'payment', 'server'] as const)(
    'do not blame the caller with %s',
    (kind) => {
      expect(failureOfEvent(new GatewayError(kind, 'x'), 200, SCOPE).kind).toBe('upstream-unavailable');
    },
  );

  it('are cut after their secrets were removed, not before', () => {
    for (let length = 580; length <= 610; length++) {
      const padding = 'x '.repeat(400).slice(0, length);
      const error = new GatewayError('invalid-request', `${padding}CANARY-7f3a91 tail ${'y '.repeat(500)}`, {
        metadata: { provider_code: `${'c'.repeat(length - 470)}CANARY-7f3a91` },
      });
      const { message, metadata } = failureOfEvent(error, 200, SCOPE);
      expect(message + JSON.stringify(metadata)).not.toContain('CA');
      expect(message.length).toBeLessThanOrEqual(600);
    }
  });

  it('are one line', () => {
    const error = new GatewayError('invalid-request', 'a\u0000b\n\nc');
    expect(failureOfEvent(error, 200, SCOPE).message).toBe('a b c');
  });

  it('are found inside relayed frames too', () => {
    const event = rewriteTerminal(
      {
        type: 'relay',
        dialect: 'chat',
        frame: { data: '{}' },
        value: {},
        events: [{ type: 'failure', error: new GatewayError('server', 'boom') }],
      },
      200,
      SCOPE,
    );
    const inner = event.type === 'relay' ? event.events[0] : undefined;
    expect(inner?.type === 'failure' && inner.error.metadata?.provider_name).toBe('Acme');
  });
});

describe('what only the error body says', () => {
  const scope: FailureScope = { ...SCOPE, readError: gemini.upstream.readError };
  const refused = (status: number, error: object, headers: Record<string, string> = {}) =>
    failureOfReply({ status, headers, body: JSON.stringify([{ error }]) }, scope);
  const quota = {
    code: 429,
    message: 'Quota',
    status: 'RESOURCE_EXHAUSTED',
    details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' }],
  };

  it('is when to try again, unless a header says it too', () => {
    expect(refused(429, quota).retryAfterSeconds).toBe(35);
    expect(refused(429, quota, { 'retry-after': '3' }).retryAfterSeconds).toBe(3);
  });

  it('is never longer than a header may be', () => {
    const details = [{ retryDelay: '86400s' }];
    expect(refused(429, { ...quota, details }).retryAfterSeconds).toBe(300);
  });

  it("is that the gateway's own key was refused", () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }];
    const found = refused(400, {
      code: 400,
      message: 'API key not valid.',
      status: 'INVALID_ARGUMENT',
      details,
    });
    expect(found.status).toBe(502);
    expect(found.message).not.toContain('API key');
  });
});

describe('the end of an answer', () => {
  it('has no secrets in the words of the upstream', () => {
    const told = rewriteTerminal(
      { type: 'finish', reason: 'stop', nativeReason: 'stopped by CANARY-7f3a91', serviceTier: 'flex' },
      200,
      SCOPE,
    );
    expect(told).toEqual({
      type: 'finish',
      reason: 'stop',
      nativeReason: 'stopped by [redacted]',
      serviceTier: 'flex',
    });
  });
});

describe('what the provider said, for the record', () => {
  const said = (status: number, body: string, scope = SCOPE) =>
    failureOfReply({ status, headers: {}, body }, scope).providerMessage;
  const errorOf = (message: string) => JSON.stringify({ error: { message } });

  it.each([
    [
      'its message',
      500,
      errorOf('internal failure in the model runner'),
      'internal failure in the model runner',
    ],
    ['a message with quotation marks', 429, errorOf('model "a" is busy'), 'model "a" is busy'],
    ['a body of another form', 503, 'no healthy upstream', 'no healthy upstream'],
    ['a credential that it refused', 401, errorOf('key CANARY-7f3a91 is wrong'), 'key [redacted] is wrong'],
    ['its own address', 502, errorOf('dial llm.example.com failed'), 'dial [redacted] failed'],
    ['a page', 502, '<html><body>Bad gateway</body></html>', undefined],
    ['nothing', 500, '', undefined],
  ])('is kept: %s', (_, status, body, kept) => {
    expect(said(status, body)).toBe(kept);
  });

  it('has at most 200 characters', () => {
    expect(said(500, errorOf('x'.repeat(500)))).toBe('x'.repeat(200));
    expect(said(500, 'y'.repeat(500))).toBe('y'.repeat(200));
  });

  it.each([400, 403, 404, 409, 413, 422])('is not kept if it may quote the request: %i', (status) => {
    expect(said(status, errorOf('Invalid prompt, flagged: my secret plan'))).toBeUndefined();
  });

  it('is only what stands in the text that guardrails read', () => {
    const late = JSON.stringify({ filler: 'z'.repeat(3_000), error: { message: 'behind the cut' } });
    expect(said(500, late)).toBe(late.slice(0, 200));
  });

  it('goes with the other words if a guardrail changes them', () => {
    const failed = failureOfReply({ status: 500, headers: {}, body: errorOf('words') }, SCOPE);
    expect(failed.withLost('broken-off').providerMessage).toBe('words');
    expect(failed.inWords('withheld', {}).providerMessage).toBeUndefined();
  });

  it('is that of an error inside an answer too', () => {
    const inside = new GatewayError('upstream-unavailable', 'the engine ran out of memory');
    expect(failureOfEvent(inside, 200, SCOPE).providerMessage).toBe('the engine ran out of memory');
    const refused = new GatewayError('invalid-request', 'Invalid: my secret plan');
    expect(failureOfEvent(refused, 200, SCOPE).providerMessage).toBeUndefined();
  });
});
