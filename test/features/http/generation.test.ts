import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { GenerationInput } from '../../../src/gateway/request/generation-input.ts';
import { GatewayError } from '../../../src/ir/errors.ts';
import {
  ACCOUNT,
  ask,
  CHAT_BODY,
  fakeGateway,
  MESSAGES_BODY,
  PLAIN_KEY,
  RESPONSES_BODY,
  startServer,
  stopServers,
  turnedAway,
  until,
} from '../../kit/http-harness.ts';

afterEach(stopServers);

const FORMATS = [
  ['/api/v1/responses', RESPONSES_BODY, 'object', 'response'],
  ['/api/v1/messages', MESSAGES_BODY, 'type', 'message'],
  ['/api/v1/chat/completions', CHAT_BODY, 'object', 'chat.completion'],
] as const;

/** A gateway that keeps what it was given. */
function recording() {
  const inputs: GenerationInput[] = [];
  const plain = fakeGateway();
  return {
    inputs,
    gateway: {
      complete: (input: GenerationInput) => {
        inputs.push(input);
        return plain.complete(input);
      },
    },
  };
}

describe('whole answers', () => {
  it.each(FORMATS)('of %s', async (path, body, member, value) => {
    const { port } = await startServer();
    const { status, json, headers } = await ask(port, { path, body, key: PLAIN_KEY });
    expect(status).toBe(200);
    expect(json[member]).toBe(value);
    expect(headers['x-generation-id']).toMatch(/^gen-\d{10}-[0-9A-Za-z]{20}$/);
    expect(headers['request-id']).toBe(headers['x-generation-id']);
    expect(headers['x-request-id']).toBe(headers['x-generation-id']);
    expect(headers['server-timing']).toMatch(
      /^auth;dur=\d+\.\d\d, plan;dur=\d+\.\d\d, upstream;dur=\d+\.\d\d, gateway;dur=\d+\.\d\d$/,
    );
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it('counts tokens', async () => {
    const { port } = await startServer();
    const { status, json, headers } = await ask(port, {
      path: '/v1/messages/count_tokens',
      body: { model: 'acme/large', messages: MESSAGES_BODY.messages },
      key: PLAIN_KEY,
    });
    expect(status).toBe(200);
    expect(json).toEqual({ input_tokens: 42 });
    expect(headers['x-generation-id']).toMatch(/^gen-/);
  });

  it('says what each phase took', async () => {
    const { port } = await startServer({
      gateway: {
        complete: async (input) => {
          input.timing.mark('plan', 1.5);
          input.timing.answered(2, 2);
          input.timing.answered(3, 3);
          return fakeGateway().complete(input);
        },
      },
    });
    const { headers } = await ask(port, { path: '/v1/responses', body: RESPONSES_BODY, key: PLAIN_KEY });
    expect(headers['server-timing']).toContain('plan;dur=1.50, upstream;dur=5.00, gateway;dur=');
  });
});

describe('the time that a caller takes to send its body', () => {
  it('is not called the time of the gateway', async () => {
    const { port, lookups } = await startServer();
    const body = JSON.stringify(RESPONSES_BODY);
    const begunMs = performance.now();
    const socket = connect(port, '127.0.0.1');
    const length = Buffer.byteLength(body);
    socket.write(
      `POST /v1/responses HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${PLAIN_KEY}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n${body.slice(0, 5)}`,
    );
    // From then on only the body is missing.
    await until(() => lookups.length === 1, 'the caller is known');
    await new Promise((resolve) => setImmediate(resolve));
    const waitingSinceMs = performance.now();
    await delay(100);
    const waitedMs = performance.now() - waitingSinceMs;
    socket.write(body.slice(5));
    const reply = (await socket.setEncoding('latin1').toArray()).join('');
    expect(reply).toMatch(/^HTTP\/1.1 200/);
    // Clocks differ by a fraction of a millisecond at most, however busy the machine is.
    const most = performance.now() - begunMs - waitedMs + 1;
    expect(Number(/gateway;dur=([\d.]+)/.exec(reply)?.[1])).toBeLessThan(most);
  });
});

describe('the input of the gateway', () => {
  it('hands over caller, ids and headers', async () => {
    const { inputs, gateway } = recording();
    const { port } = await startServer({ gateway });
    const { headers } = await ask(port, {
      path: '/api/v1/messages?beta=true',
      body: MESSAGES_BODY,
      key: PLAIN_KEY,
      headers: { 'X-Session-Id': 's-1', 'anthropic-beta': 'a-1,b-2', 'x-signalbox-metadata': 'ENABLED' },
    });
    expect(inputs[0]).toMatchObject({
      format: 'messages',
      body: MESSAGES_BODY,
      generationId: headers['x-generation-id'],
      sessionId: 's-1',
      betas: 'a-1,b-2',
      wantsMetadata: true,
      caller: { accountId: ACCOUNT, workspaceId: 'workspace' },
    });
    expect(inputs[0]?.signal.aborted).toBe(false);
  });

  it.each([
    [{ 'X-Signalbox-Metadata': 'enabled' }, true],
    [{ 'X-Signalbox-Experimental-Metadata': 'enabled' }, true],
    [{ 'X-Signalbox-Metadata': 'disabled', 'X-Signalbox-Experimental-Metadata': 'enabled' }, false],
    [{ 'X-Signalbox-Metadata': 'true' }, false],
    [{}, false],
  ])('reads the metadata headers: %j', async (headers, wanted) => {
    const { inputs, gateway } = recording();
    const { port } = await startServer({ gateway });
    await ask(port, { path: '/v1/responses', body: RESPONSES_BODY, key: PLAIN_KEY, headers });
    expect(inputs[0]?.wantsMetadata).toBe(wanted);
  });

  it('follows the vendor word', async () => {
    const { inputs, gateway } = recording();
    const { port } = await startServer({ gateway, settings: { vendor: 'acme-ai' } });
    const headers = { 'X-Acme-Ai-Metadata': 'enabled' };
    await ask(port, { path: '/v1/responses', body: RESPONSES_BODY, key: PLAIN_KEY, headers });
    expect(inputs[0]?.wantsMetadata).toBe(true);
  });

  it.each([
    ['a long session id', { 'x-session-id': 'x'.repeat(257) }, 'x-session-id'],
    ['a tab in a session id', { 'x-session-id': 'a\tb' }, 'x-session-id'],
    ['bytes that are not ASCII', { 'x-session-id': 'caf\u00e9' }, 'x-session-id'],
    ['a tab in the betas', { 'anthropic-beta': 'a\tb' }, 'anthropic-beta'],
    ['a text among the betas', { 'anthropic-beta': 'a-1, my card 4111' }, 'anthropic-beta'],
    ['capitals in the other header of betas', { 'x-anthropic-beta': 'Secret' }, 'x-anthropic-beta'],
    ['a long name of a beta', { 'anthropic-beta': 'x'.repeat(65) }, 'anthropic-beta'],
    [
      'more than 32 betas',
      { 'anthropic-beta': Array.from({ length: 33 }, (_, index) => `a-${index}`).join() },
      'anthropic-beta',
    ],
  ])('refuses %s', async (_, headers, path) => {
    const { inputs, gateway } = recording();
    const { port } = await startServer({ gateway });
    const { status, json } = await ask(port, {
      path: '/v1/responses',
      body: RESPONSES_BODY,
      key: PLAIN_KEY,
      headers,
    });
    expect(status).toBe(400);
    expect(json.error.metadata.issues[0].path).toBe(path);
    expect(inputs).toEqual([]);
  });

  it.each([
    ['a-1 , b-2,, a-1,', 'a-1,b-2'],
    [' ,, ', undefined],
    [Array.from({ length: 32 }, (_, index) => `a-${index}`).join(), expect.stringMatching(/^a-0,.*,a-31$/)],
  ])('takes the names of betas: %s', async (given, betas) => {
    const { inputs, gateway } = recording();
    const { port } = await startServer({ gateway });
    const headers = { 'anthropic-beta': given };
    await ask(port, { path: '/v1/messages', body: MESSAGES_BODY, key: PLAIN_KEY, headers });
    expect(inputs[0]?.betas).toEqual(betas);
  });

  it('names the wrong beta', async () => {
    const { port } = await startServer();
    const headers = { 'anthropic-beta': 'a-1,my card 4111' };
    const { json } = await ask(port, { path: '/v1/messages', body: MESSAGES_BODY, key: PLAIN_KEY, headers });
    expect(JSON.stringify(json)).toContain('my card 4111');
  });

  it('passes nothing on of an invalid body', async () => {
    const { inputs, gateway } = recording();
    const { port } = await startServer({ gateway });
    for (const [path] of FORMATS) {
      const { status, json, headers } = await ask(port, { path, body: { model: 5 }, key: PLAIN_KEY });
      expect(status).toBe(400);
      expect(json.error.metadata.issues.length).toBeGreaterThan(0);
      expect(json.user_id).toBe(ACCOUNT);
      expect(headers['x-generation-id']).toMatch(/^gen-/);
      expect(headers['server-timing']).toContain('gateway;dur=');
    }
    expect(inputs).toEqual([]);
  });
});

describe('errors of the gateway', () => {
  it('pass with status, account, Retry-After and generation id', async () => {
    const { port } = await startServer({
      gateway: {
        complete: async () => {
          throw new GatewayError('rate-limited', 'Slow down', {
            retryAfterSeconds: 6.2,
            metadata: { provider_name: 'Acme' },
          });
        },
      },
    });
    const { status, headers, json } = await ask(port, {
      path: '/v1/messages',
      body: MESSAGES_BODY,
      key: PLAIN_KEY,
    });
    expect(status).toBe(429);
    expect(headers['retry-after']).toBe('7');
    expect(json).toMatchObject({
      type: 'error',
      error: { type: 'rate_limit_error', code: 429, message: 'Slow down', error_type: 'rate_limit_exceeded' },
      request_id: headers['x-generation-id'],
      user_id: ACCOUNT,
    });
  });

  it('never send a Retry-After above 300 s', async () => {
    const { port } = await startServer({
      gateway: {
        complete: async () => {
          throw new GatewayError('overloaded', 'All is cooling', { retryAfterSeconds: 4000 });
        },
      },
    });
    const { headers } = await ask(port, { path: '/v1/responses', body: RESPONSES_BODY, key: PLAIN_KEY });
    expect(headers['retry-after']).toBe('300');
  });

  it.each([524, 529])('keep the status %i', async (status) => {
    const kind = status === 524 ? 'upstream-timeout' : 'upstream-overloaded';
    const { port } = await startServer({
      gateway: {
        complete: async () => {
          throw new GatewayError(kind, 'Provider returned error');
        },
      },
    });
    const answer = await ask(port, { path: '/v1/responses', body: RESPONSES_BODY, key: PLAIN_KEY });
    expect(answer.status).toBe(status);
    expect(answer.json.error.code).toBe(status);
  });

  it('that are unexpected are masked, and logged with the request id', async () => {
    const { port, log } = await startServer({
      gateway: {
        complete: async () => {
          throw new TypeError('cannot read /etc/secret of host db-1');
        },
      },
    });
    for (const [path, body] of FORMATS) {
      const { status, text, json, headers } = await ask(port, { path, body, key: PLAIN_KEY });
      expect(status).toBe(500);
      expect(json.error.message).toBe('Internal Server Error');
      expect(text).not.toMatch(/secret|db-1|TypeError|\.ts/);
      const line = log.find(({ fields }) => fields?.request_id === headers['request-id']);
      expect(line?.level).toBe('error');
      expect(String(line?.fields?.error)).toContain('/etc/secret');
    }
  });
});

describe('limits on generations', () => {
  it('refuses what is over the limit before its body is read; other routes are exempt', async () => {
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    let started = 0;
    const { port, server } = await startServer({
      settings: { maxConcurrentRequests: 2 },
      gateway: {
        complete: async (input) => {
          started++;
          await gate;
          return fakeGateway().complete(input);
        },
      },
    });
    const question = { path: '/v1/responses', body: RESPONSES_BODY, key: PLAIN_KEY };
    const first = [ask(port, question), ask(port, question)];
    await until(() => started === 2, 'both started');
    const refused = await ask(port, { ...question, body: 'not even JSON' });
    expect(refused.status).toBe(503);
    expect(refused.headers['retry-after']).toBe('1');
    expect(refused.json.error.code).toBe(503);
    expect(turnedAway(server)).toEqual({ flood: 0, 'in-flight': 1 });
    expect((await ask(port, { path: '/healthz' })).status).toBe(200);
    expect((await ask(port, { path: '/api/v1/key', key: PLAIN_KEY })).status).toBe(200);
    release();
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await ask(port, question)).status).toBe(200);
  });

  it('frees a place however a request ends', async () => {
    const { port } = await startServer({
      settings: { maxConcurrentRequests: 1 },
      gateway: {
        complete: async () => {
          throw new GatewayError('not-found', 'No endpoint');
        },
      },
    });
    const question = { path: '/v1/responses', key: PLAIN_KEY };
    expect((await ask(port, { ...question, body: RESPONSES_BODY })).status).toBe(404);
    expect((await ask(port, { ...question, body: { model: 5 } })).status).toBe(400);
    expect((await ask(port, { ...question, body: RESPONSES_BODY })).status).toBe(404);
  });

  it('answers 408 when its own deadline passes, even if the gateway does not stop', async () => {
    let signal: AbortSignal | undefined;
    const { port } = await startServer({
      settings: { requestDeadlineMs: 60 },
      times: { abortGraceMs: 40 },
      gateway: {
        complete: (input) => {
          signal = input.signal;
          return new Promise(() => {});
        },
      },
    });
    const { status, json } = await ask(port, { path: '/v1/responses', body: RESPONSES_BODY, key: PLAIN_KEY });
    expect(status).toBe(408);
    expect(json.error.message).toBe('Operation timed out. Please try again later.');
    expect(signal?.reason).toBeInstanceOf(GatewayError);
  });
});

describe('before it is ready', () => {
  it('answers 503, alive but not ready', async () => {
    const { port, becomeReady } = await startServer({ notReady: true });
    expect((await ask(port, { path: '/healthz' })).status).toBe(200);
    const ready = await ask(port, { path: '/readyz' });
    expect(ready.status).toBe(503);
    expect(ready.json.error.code).toBe(503);
    const refused = await ask(port, { path: '/v1/messages', body: MESSAGES_BODY, key: PLAIN_KEY });
    expect(refused.status).toBe(503);
    expect(refused.json.type).toBe('error');
    await becomeReady();
    expect((await ask(port, { path: '/readyz' })).status).toBe(200);
  });
});
