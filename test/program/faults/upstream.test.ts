import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sse } from '../../kit/fakes/answers.ts';
import {
  end,
  flood,
  head,
  never,
  reply,
  reset,
  SSE,
  stall,
  stepsOf,
  truncate,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { readEvents } from '../../kit/gateway-harness.ts';
import {
  type Bench,
  bodyOf,
  CANARY,
  DIALECTS,
  disguises,
  HEADER_CANARY,
  openBench,
  textOf,
} from './bench-of-upstreams.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.close());
beforeEach(() => {
  bench.first.clear();
  bench.second.clear();
});

const post = (format: string, model: string, more: object = {}) => {
  const [path, body] = bodyOf(format, model, more);
  return bench.gateway.post(path, body, { 'x-signalbox-metadata': 'enabled' });
};
const metadataOf = (body: any) => body.signalbox_metadata;

describe.each(DIALECTS)('a $word upstream', ({ format, answer, frames }) => {
  const partial = (count: number) => sse(frames({ text: 'Hello there, this is a text' }).slice(0, count));

  it('is replaced by the next endpoint when it refuses the connection or answers 500', async () => {
    const failures = [
      [reset()],
      reply(500, { error: { message: 'boom' } }),
      reply(429, { error: {} }, { 'content-type': 'application/json', 'retry-after': '0' }),
    ];
    for (const failure of failures) {
      bench.first.clear();
      bench.second.clear();
      bench.first.answer(failure);
      bench.second.answer(answer({ text: 'From the second' }));
      const response = await post(format, `${format}/one`);
      const body = await response.json();
      expect(response.status).toBe(200);
      expect(JSON.stringify(body)).toContain('From the second');
      // One more where the reset came over a kept connection: then the same endpoint is called again.
      const attempt = bench.first.requests.length + bench.second.requests.length;
      expect(metadataOf(body)).toMatchObject({ attempt, summary: `available=2, selected=p2-${format}` });
    }
  });

  it('is replaced by the next endpoint when its stream does not begin', async () => {
    bench.first.answer([never()]);
    bench.second.answer(answer({ text: 'From the second' }));
    const response = await post(format, `${format}/late`, { stream: true });
    expect(textOf(await readEvents(response))).toContain('From the second');
    expect(bench.second.requests).toHaveLength(1);
  });

  it('has more time for a whole answer than for the first byte of a stream', async () => {
    bench.first.answer((request) => [
      stall(2_500),
      ...stepsOf(answer({ text: 'Thought for long' }), request),
    ]);
    const response = await post(format, `${format}/late`);
    expect(await response.text()).toContain('Thought for long');
    expect(bench.first.requests).toHaveLength(1);
    expect(bench.second.requests).toHaveLength(0);
  });

  it('times out with 524 if its stream never begins, and is closed', async () => {
    bench.first.answer([never()]);
    const response = await post(format, `${format}/late-solo`, { stream: true });
    expect(response.status).toBe(524);
    await (await bench.first.request(0)).closed;
  });

  it('ends in an in-band failure when it falls silent or resets after content', async () => {
    for (const ending of [[never()], [reset()], [truncate()]]) {
      bench.first.clear();
      bench.first.answer([head(200, SSE), write(partial(6)), ...ending]);
      bench.second.answer(answer({ text: 'never asked' }));
      const response = await post(format, `${format}/quiet`, { stream: true });
      expect(response.status).toBe(200);
      const events = await readEvents(response);
      const last = events.filter(({ data }) => data !== '[DONE]').at(-1)?.data;
      if (format === 'responses')
        expect(last).toMatchObject({ type: 'response.failed', response: { status: 'failed' } });
      if (format === 'messages') expect(last).toMatchObject({ type: 'error' });
      if (format === 'chat')
        expect(last).toMatchObject({
          error: { code: expect.any(Number) },
          choices: [{ finish_reason: 'error' }],
        });
      expect(bench.second.requests).toHaveLength(0);
    }
  });

  it('is a plain 502 when it answers with a page, a broken body, or an error in a 200', async () => {
    const html = `<html><body>${'x'.repeat(100_000)}</body></html>`;
    const failures = [
      reply(500, html, { 'content-type': 'text/html' }),
      reply(200, html, { 'content-type': 'text/html' }),
      reply(200, '{"id": '),
      reply(200, { error: { message: 'no' } }),
    ];
    for (const failure of failures) {
      bench.first.clear();
      bench.first.answer(failure);
      const response = await post(format, `${format}/solo`);
      const text = await response.text();
      expect(response.status).toBe(502);
      expect(text).not.toContain('<html');
      expect(text.length).toBeLessThan(4000);
    }
  });

  it('never leaks its key, whatever it echoes', async () => {
    const echo = {
      error: { message: `bad key Bearer ${CANARY} at ${bench.first.url}`, type: 'authentication_error' },
    };
    for (const status of [400, 401, 403, 500]) {
      bench.first.clear();
      bench.first.answer(reply(status, echo));
      const response = await post(format, `${format}/solo`);
      const text = (await response.text()) + JSON.stringify([...response.headers]);
      expect(text).not.toContain(CANARY);
      expect(text).not.toContain('127.0.0.1');
      expect(response.status).toBe(status === 400 ? 400 : 502);
    }
    expect(bench.gateway.logText()).not.toContain(CANARY);
  });

  it('never leaks a secret in an encoded form', async () => {
    const echoed = [CANARY, HEADER_CANARY].flatMap(disguises);
    const message = `you sent ${echoed.join(' and ')}`;
    for (const status of [400, 401]) {
      bench.first.clear();
      bench.first.answer(reply(status, { error: { message, type: 'invalid_request_error' } }));
      const text = await (await post(format, `${format}/solo`)).text();
      for (const form of echoed) expect(text).not.toContain(form.replace(/=+$/, ''));
    }
  });

  it('never leaks its key in an error inside a stream', async () => {
    const words = {
      message: `bad key Bearer ${CANARY} at ${bench.first.url}`,
      type: 'server_error',
      code: 'server_error',
    };
    const error = { type: 'error', error: words, ...(format === 'responses' && words) };
    const failed = {
      type: 'response.failed',
      response: { id: 'r', status: 'failed', error: words, output: [] },
    };
    for (const count of [0, 6]) {
      for (const data of format === 'responses' ? [error, failed] : [error]) {
        bench.first.clear();
        const beginning = count === 0 ? '' : partial(count);
        bench.first.answer([head(200, SSE), write(beginning + sse([{ event: data.type, data }])), end()]);
        for (const caller of DIALECTS) {
          const response = await post(caller.format, `${format}/solo`, { stream: true });
          const text = await response.text();
          expect(response.status).toBe(count === 0 ? 502 : 200);
          expect(text).not.toContain(CANARY);
          expect(text).not.toContain('127.0.0.1');
        }
      }
    }
  });

  it('gives the same answer for any cut of its bytes, line end and comment', async () => {
    const text = 'Grüße, \u{1F600} world\u2028 end';
    const stream = sse(frames({ text }));
    const variants: [string, Buffer, 'bytes' | number[]][] = [
      ['whole', Buffer.from(stream), []],
      ['byte by byte', Buffer.from(stream), 'bytes'],
      ['CRLF', Buffer.from(stream.replaceAll('\n', '\r\n')), [7, 100, 333]],
      ['CR', Buffer.from(stream.replaceAll('\n', '\r')), [50]],
      ['BOM', Buffer.from(`\uFEFF${stream}`), [1, 2]],
      ['comments', Buffer.from(stream.replaceAll('\n\n', '\n\n: keep\n\n')), []],
      ['no space', Buffer.from(stream.replaceAll('data: ', 'data:')), []],
    ];
    const said = new Set<string>();
    for (const [, bytes, split] of variants) {
      bench.first.clear();
      bench.first.answer([head(200, SSE), write(bytes, split), end()]);
      const events = await readEvents(await post(format, `${format}/solo`, { stream: true }));
      said.add(textOf(events));
    }
    expect([...said]).toEqual([text]);
  });

  it('cannot inject events', async () => {
    const evil = 'x\n\ndata: {"type":"response.completed"}\n\n\r\u2028\u0000';
    bench.first.answer([head(200, SSE), write(sse(frames({ text: evil, model: 'm\r\nevent: x' }))), end()]);
    const response = await post(format, `${format}/solo`, { stream: true });
    const events = await readEvents(response);
    expect(textOf(events)).toBe(evil);
    for (const { event } of events) expect(event ?? '').toMatch(/^[a-z_.]*$/);
  });

  it('is cut off when one event grows without end', async () => {
    bench.first.answer([
      head(200, SSE),
      write(partial(3)),
      write('data: "'),
      flood('x'.repeat(65_536), 64 * 1024 * 1024),
    ]);
    const response = await post(format, `${format}/solo`, { stream: true });
    const text = await response.text();
    expect(text.length).toBeLessThan(20_000);
    const record = await bench.first.request(0);
    await record.closed;
    expect(record.writtenBytes).toBeLessThan(40 * 1024 * 1024);
  });

  it('gets no field that is meant for the gateway', async () => {
    bench.first.answer(answer({ text: 'ok' }));
    const stowaways = {
      api_base: 'http://127.0.0.1:1',
      base_url: 'http://127.0.0.1:1',
      api_key: 'mine',
      organization: 'x',
      cost: 0,
      signalbox_metadata: { is_byok: true },
      user: 'alice@example.com',
      session_id: 's%0d%0aX-Evil: 1',
      trace: { __proto__: { isManagement: true } },
    };
    const response = await post(format, `${format}/solo`, stowaways);
    const body = (await response.json()) as any;
    expect(response.status).toBe(200);
    expect(body.usage.cost).toBeGreaterThan(0);
    const record = await bench.first.request(0);
    expect(record.body).not.toContain('alice@example.com');
    expect(record.json.model).toBe('upstream-model');
    expect(Object.values(record.headers).join()).toContain(CANARY);
    for (const name of ['session_id', 'trace', 'provider', 'plugins'])
      expect(record.json[name]).toBeUndefined();
    expect(record.rawHeaders.join('\n')).not.toMatch(/evil/i);
  });

  it('is closed when the caller leaves', async () => {
    bench.first.answer([
      head(200, SSE),
      write(partial(6)),
      stall(300),
      write(partial(6)),
      stall(300),
      write(partial(6)),
      never(),
    ]);
    const [path, body] = bodyOf(format, `${format}/solo`, { stream: true });
    const controller = new AbortController();
    const response = await bench.gateway.fetch(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
      signal: controller.signal,
    });
    await response.body?.getReader().read();
    controller.abort();
    const record = await bench.first.request(0);
    const started = performance.now();
    await record.closed;
    // Three seconds for its report, on a busy machine.
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});

describe('an upstream that sends without end', () => {
  it('does not starve other callers', async () => {
    const frame = sse([
      {
        data: { id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'a' } }] },
      },
    ]);
    bench.first.answer([head(200, SSE), flood(frame.repeat(200), 8 * 1024 * 1024), end()]);
    const flooded = post('chat', 'chat/solo', { stream: true }).then((response) => response.text());
    const waits: number[] = [];
    for (let probe = 0; probe < 40; probe++) {
      const started = performance.now();
      await fetch(`${bench.gateway.origin}/healthz`);
      waits.push(performance.now() - started);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await flooded;
    expect(Math.max(...waits)).toBeLessThan(1500);
  });

  it('is given up when no content comes, and what it may bill is written off', async () => {
    const empty = sse([
      { data: { id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta: {} }] } },
    ]);
    bench.first.answer([head(200, SSE), flood(empty.repeat(500), 64 * 1024 * 1024), end()]);
    // A failure, with a status of its own or, on a machine that took seconds to read so much, inside the stream.
    const response = await post('chat', 'chat/solo', { stream: true });
    expect(await response.text()).toContain('an answer without content');
    await (await bench.first.request(0)).closed;
    const id = response.headers.get('x-generation-id');
    const record = async () => await bench.gateway.fetch(`/generation?id=${id}`);
    await expect.poll(async () => (await record()).status).toBe(200);
    const { data } = (await (await record()).json()) as any;
    expect(data).toMatchObject({ total_cost: 0, written_off_cause: 'dropped' });
    expect(data.written_off).toBeGreaterThan(0);
  });
});

describe('the debug echo', () => {
  it('comes first, once per endpoint that was asked, without secrets', async () => {
    bench.first.answer(reply(500, {}));
    bench.second.answer(DIALECTS[1].answer({ text: 'ok' }));
    const [path, body] = bodyOf('responses', 'responses/one', {
      stream: true,
      debug: { echo_upstream_body: true },
    });
    const response = await bench.gateway.post(path, body);
    const text = await response.clone().text();
    const events = await readEvents(response);
    expect(events.slice(0, 3).map(({ data }) => data.type)).toEqual([
      'response.debug',
      'response.debug',
      'response.created',
    ]);
    expect(events[0]?.data.debug.echo_upstream_body).toMatchObject({ model: 'upstream-model' });
    expect(events.filter(({ data }) => data !== '[DONE]').map(({ data }) => data.sequence_number)).toEqual(
      events.slice(0, -1).map((_, index) => index),
    );
    expect(text).not.toContain(CANARY);
    expect(text).not.toContain('127.0.0.1');
  });
});
