import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { CallerGone } from '../../../src/http/exchange/http-exchange.ts';
import { GatewayError } from '../../../src/ir/errors.ts';
import type { EventBatch } from '../../../src/ir/events.ts';
import { SseReader } from '../../../src/kit/frames/sse.ts';
import {
  answerEvents,
  ask,
  batchesOf,
  CHAT_BODY,
  closeEvents,
  contextOf,
  delta,
  fakeGateway,
  MESSAGES_BODY,
  openEvents,
  openSocket,
  PLAIN_KEY,
  RESPONSES_BODY,
  startServer,
  stopServers,
  until,
} from '../../kit/http-harness.ts';

afterEach(stopServers);

const STREAMED = { ...RESPONSES_BODY, stream: true };

function typesOf(text: string): string[] {
  const reader = new SseReader();
  const frames = [...reader.push(Buffer.from(text)), ...reader.end()];
  return frames.map(({ data }) => (data === '[DONE]' ? data : JSON.parse(data).type));
}

function requestText(body: object, path = '/api/v1/responses'): string {
  const text = JSON.stringify(body);
  return (
    `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${PLAIN_KEY}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  );
}

const COMMENT = ': SIGNALBOX PROCESSING\n';

/** `read` resolves once a caller has read a mark so often: on a busy machine no pause is long enough for certain. */
function sightings(count: number, mark = COMMENT) {
  let resolve = () => {};
  const read = new Promise<void>((resolved) => {
    resolve = resolved;
  });
  const onText = (text: string) => {
    if (text.split(mark).length > count) resolve();
  };
  return { read, onText };
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe('streams', () => {
  it('carry the headers of a stream and end as their format ends', async () => {
    const { port } = await startServer();
    const { status, headers, text } = await ask(port, {
      path: '/v1/responses',
      body: STREAMED,
      key: PLAIN_KEY,
    });
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(headers['cache-control']).toBe('no-cache');
    expect(headers['x-accel-buffering']).toBe('no');
    expect(headers['x-generation-id']).toMatch(/^gen-/);
    expect(headers['request-id']).toBe(headers['x-generation-id']);
    expect(headers['server-timing']).toContain('upstream;dur=');
    expect(headers['content-length']).toBeUndefined();
    const types = typesOf(text);
    expect(types[0]).toBe('response.created');
    expect(types.at(-2)).toBe('response.completed');
    expect(types.at(-1)).toBe('[DONE]');
    expect(text.startsWith(':')).toBe(false);

    const messages = await ask(port, {
      path: '/v1/messages',
      body: { ...MESSAGES_BODY, stream: true },
      key: PLAIN_KEY,
    });
    expect(typesOf(messages.text).at(-1)).toBe('message_stop');
    const chat = await ask(port, {
      path: '/v1/chat/completions',
      body: { ...CHAT_BODY, stream: true },
      key: PLAIN_KEY,
    });
    expect(typesOf(chat.text).at(-1)).toBe('[DONE]');
  });

  it('keep text that looks like an event inside its delta', async () => {
    const evil = '\n\ndata: {"type":"response.completed"}\n\n\r\u2028\u0000: x';
    const { port } = await startServer({
      gateway: {
        stream: async (input) => ({ context: contextOf(input), batches: batchesOf([answerEvents(evil)]) }),
      },
    });
    const { text } = await ask(port, { path: '/v1/responses', body: STREAMED, key: PLAIN_KEY });
    const reader = new SseReader();
    const events = reader
      .push(Buffer.from(text))
      .filter(({ data }) => data !== '[DONE]')
      .map(({ data }) => JSON.parse(data));
    expect(events.filter(({ type }) => type === 'response.completed')).toHaveLength(1);
    const deltas = events.filter(({ type }) => type === 'response.output_text.delta');
    expect(deltas.map((event) => event.delta).join('')).toBe(evil);
  });

  it('fail as plain HTTP errors while the head is held back', async () => {
    const { port } = await startServer({
      gateway: {
        stream: async () => {
          await pause(20);
          throw new GatewayError('upstream-unavailable', 'Provider returned error');
        },
      },
    });
    const { status, headers, json } = await ask(port, {
      path: '/v1/responses',
      body: STREAMED,
      key: PLAIN_KEY,
    });
    expect(status).toBe(502);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(headers['x-generation-id']).toMatch(/^gen-/);
    expect(json.error.code).toBe(502);
  });

  it('open with a comment when content is late, and still answer', async () => {
    const { onText, read } = sightings(2);
    const { port } = await startServer({
      times: { holdHeadersMs: 40, silenceMs: 40 },
      gateway: {
        stream: async (input) => {
          await read;
          return { context: contextOf(input), batches: batchesOf([answerEvents('late')]) };
        },
      },
    });
    const { status, text } = await ask(port, {
      path: '/v1/responses',
      body: STREAMED,
      key: PLAIN_KEY,
      onText,
    });
    expect(status).toBe(200);
    expect(text.startsWith(`${COMMENT}${COMMENT}`)).toBe(true);
    expect(typesOf(text).at(-1)).toBe('[DONE]');
  });

  it('report a failure in the stream once the comment was sent', async () => {
    let { onText, read } = sightings(1);
    const { port } = await startServer({
      times: { holdHeadersMs: 20 },
      gateway: {
        stream: async () => {
          await read;
          throw new GatewayError('upstream-timeout', 'Request timed out. Please try again later.');
        },
      },
    });
    const responses = await ask(port, { path: '/v1/responses', body: STREAMED, key: PLAIN_KEY, onText });
    expect(responses.status).toBe(200);
    expect(typesOf(responses.text)).toEqual([
      'response.created',
      'response.in_progress',
      'response.failed',
      '[DONE]',
    ]);
    ({ onText, read } = sightings(1));
    const messages = await ask(port, {
      path: '/v1/messages',
      body: { ...MESSAGES_BODY, stream: true },
      key: PLAIN_KEY,
      onText,
    });
    expect(typesOf(messages.text).at(-1)).toBe('error');
  });

  it('report a failure in the stream when the batches break off', async () => {
    const { port, log } = await startServer({
      gateway: {
        stream: async (input) => ({
          context: contextOf(input),
          batches: (async function* () {
            yield openEvents('half');
            throw new Error('a bug with a path /srv/x');
          })(),
        }),
      },
    });
    const { text } = await ask(port, { path: '/v1/responses', body: STREAMED, key: PLAIN_KEY });
    expect(typesOf(text).slice(-2)).toEqual(['response.failed', '[DONE]']);
    expect(text).not.toContain('/srv/x');
    expect(log.some(({ level }) => level === 'error')).toBe(true);
  });

  it('send comments during silence', async () => {
    let { onText, read } = sightings(2);
    const { port } = await startServer({
      times: { silenceMs: 30 },
      gateway: {
        stream: async (input) => ({
          context: contextOf(input),
          batches: (async function* () {
            yield openEvents('a');
            await read;
            yield closeEvents();
          })(),
        }),
      },
    });
    const responses = await ask(port, { path: '/v1/responses', body: STREAMED, key: PLAIN_KEY, onText });
    expect(typesOf(responses.text).at(-1)).toBe('[DONE]');
    ({ onText, read } = sightings(2, 'event: ping'));
    const messages = await ask(port, {
      path: '/v1/messages',
      body: { ...MESSAGES_BODY, stream: true },
      key: PLAIN_KEY,
      onText,
    });
    expect(typesOf(messages.text).filter((type) => type === 'ping').length).toBeGreaterThanOrEqual(2);
  });

  it('end with a failure when the deadline passes', async () => {
    const { port } = await startServer({
      settings: { requestDeadlineMs: 400 },
      times: { abortGraceMs: 30 },
      gateway: {
        stream: async (input) => ({
          context: contextOf(input),
          batches: (async function* () {
            yield openEvents('a');
            await new Promise(() => {});
          })(),
        }),
      },
    });
    const { text } = await ask(port, { path: '/v1/responses', body: STREAMED, key: PLAIN_KEY });
    expect(typesOf(text).slice(-2)).toEqual(['response.failed', '[DONE]']);
    expect(text).toContain('Operation timed out');
  });
});

describe('readers', () => {
  it('that are slow cause back-pressure', async () => {
    let produced = 0;
    const piece = 'x'.repeat(64_000);
    const total = 800;
    const { port } = await startServer({
      gateway: {
        stream: async (input) => ({
          context: contextOf(input),
          batches: (async function* (): AsyncGenerator<EventBatch> {
            yield openEvents('a');
            for (; produced < total; produced++) yield [delta(piece)];
            yield closeEvents();
          })(),
        }),
      },
    });
    const socket = connect(port, '127.0.0.1');
    let tail = '';
    socket.on('data', (chunk) => {
      tail = (tail + chunk).slice(-100);
    });
    socket.write(requestText({ ...CHAT_BODY, stream: true }, '/api/v1/chat/completions'));
    await until(() => tail !== '', 'the first bytes');
    socket.pause();
    // Until the buffers on the way are full: nothing more is produced then.
    for (let before = -1; produced !== before; ) {
      before = produced;
      await pause(200);
    }
    expect(produced).toBeLessThan(total);
    socket.resume();
    await until(() => tail.includes('[DONE]'), 'the whole stream');
    expect(produced).toBe(total);
    socket.destroy();
  });

  it('that never read are cut off at the deadline', async () => {
    let returned = false;
    const { port } = await startServer({
      settings: { requestDeadlineMs: 150 },
      times: { abortGraceMs: 50 },
      gateway: {
        stream: async (input) => ({
          context: contextOf(input),
          batches: (async function* (): AsyncGenerator<EventBatch> {
            try {
              yield openEvents('a');
              while (!input.signal.aborted) yield [delta('x'.repeat(64_000))];
              throw input.signal.reason;
            } finally {
              returned = true;
            }
          })(),
        }),
      },
    });
    const { socket } = await openSocket(port);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(requestText(STREAMED));
    socket.pause();
    await until(() => returned, 'the gateway is let go');
    await pause(150);
    socket.resume();
    await closed;
  });

  it('that leave end their pipelined requests too', async () => {
    const signals: AbortSignal[] = [];
    const { port } = await startServer({
      settings: { maxConcurrentRequests: 2 },
      times: { abortGraceMs: 20 },
      gateway: {
        complete: (input) => {
          signals.push(input.signal);
          if (signals.length > 2) return fakeGateway().complete(input);
          return new Promise((_, reject) =>
            input.signal.addEventListener('abort', () => reject(input.signal.reason)),
          );
        },
      },
    });
    const { socket } = await openSocket(port);
    socket.write(requestText(RESPONSES_BODY) + requestText(RESPONSES_BODY));
    await until(() => signals.length === 2, 'both at work');
    socket.destroy();
    await until(() => signals.every(({ aborted }) => aborted), 'both aborted');
    // Their places are free a moment later.
    const again = async () =>
      (await ask(port, { path: '/v1/responses', body: RESPONSES_BODY, key: PLAIN_KEY })).status;
    await expect.poll(again).toBe(200);
  });

  it('that leave abort the generation, in every phase', async () => {
    const signals: AbortSignal[] = [];
    const ended: string[] = [];
    const { port, log } = await startServer({
      times: { holdHeadersMs: 20, abortGraceMs: 20 },
      gateway: {
        stream: (input) => {
          signals.push(input.signal);
          if (input.body.input === 'opening') return new Promise(() => {});
          return Promise.resolve({
            context: contextOf(input),
            batches: (async function* (): AsyncGenerator<EventBatch> {
              try {
                yield openEvents('a');
                await new Promise((_, reject) =>
                  input.signal.addEventListener('abort', () => reject(input.signal.reason)),
                );
              } finally {
                ended.push('stream');
              }
            })(),
          });
        },
        complete: (input) => {
          signals.push(input.signal);
          return new Promise((_, reject) =>
            input.signal.addEventListener('abort', () => {
              ended.push('complete');
              reject(input.signal.reason);
            }),
          );
        },
      },
    });
    const leave = async (body: object, once: (text: string) => boolean) => {
      const { socket, read } = await openSocket(port);
      const before = signals.length;
      socket.write(requestText(body));
      await until(() => signals.length > before && once(read()), 'the gateway is at work');
      socket.destroy();
      await until(() => signals[before]?.aborted === true, 'the signal');
      expect(signals[before]?.reason).toBeInstanceOf(CallerGone);
    };
    await leave(RESPONSES_BODY, () => true);
    await leave({ ...STREAMED, input: 'opening' }, () => true);
    await leave({ ...STREAMED, input: 'opening' }, (text) => text.includes('PROCESSING'));
    await leave(STREAMED, (text) => text.includes('response.created'));
    await until(() => ended.length === 2, 'both ended');
    expect(ended.sort()).toEqual(['complete', 'stream']);
    const unfinished = await openSocket(port);
    unfinished.socket.write(requestText(STREAMED).slice(0, -5));
    await pause(30);
    unfinished.socket.destroy();
    await pause(60);
    expect(signals).toHaveLength(4);
    expect(log.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
