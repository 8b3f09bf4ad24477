import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { doubleAnswer } from '../../kit/fakes/agents/double-answer.ts';
import { DOUBLES } from '../../kit/fakes/agents/doubles.ts';
import type { UpstreamDouble } from '../../kit/fakes/agents/upstream-double.ts';
import type { Said } from '../../kit/fakes/agents/whole-answers.ts';
import { end, type FakeUpstream, head, reply, type Step, write } from '../../kit/fakes/fake-upstream.ts';
import type { TestGateway } from '../../kit/gateway-harness.ts';
import { type DoublesGateway, ONE_OF_EACH, openDoublesGateway } from './doubles-gateway.ts';
import { PATHS, type Path, QUESTION } from './tool-gateway.ts';

/** Streams of the tool loop while a tool runs, and while a later leg is being written. */

let doubles: DoublesGateway;
let engine: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  doubles = await openDoublesGateway(ONE_OF_EACH, { times: { holdHeadersMs: 40, silenceMs: 40 } });
  ({ engine, gateway } = doubles);
});
beforeEach(() => doubles.clear());
afterAll(() => doubles.close());

/** A step that waits until the test opens the gate. */
function openGate(): { readonly wait: Step; readonly open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { wait: () => opened, open };
}

/** The text of a stream as it arrives. */
class ArrivingText {
  readonly #reader: ReadableStreamDefaultReader<string>;
  text = '';

  constructor(response: Response) {
    if (response.body === null) throw new Error('the response has no body');
    this.#reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** Reads on until the text holds what is looked for; fails if the stream ends before. */
  async until(isThere: (text: string) => boolean): Promise<void> {
    while (!isThere(this.text)) {
      const { value, done } = await this.#reader.read();
      if (done) throw new Error(`the stream ended: ${this.text}`);
      this.text += value;
    }
  }

  async untilEnd(): Promise<void> {
    for (;;) {
      const { value, done } = await this.#reader.read();
      if (done) return;
      this.text += value;
    }
  }
}

async function stream(path: Path, double: UpstreamDouble): Promise<ArrivingText> {
  const tools = [{ type: 'signalbox:web_search' }];
  const model = `one/${double.dialect}`;
  return new ArrivingText(await gateway.post(path, { model, ...QUESTION[path], tools, stream: true }));
}

const SEARCH: Said = {
  thoughts: '',
  seal: 'c2VhbA==',
  call: { id: 'call_a', name: 'web_search', arguments: { query: 'letter A' } },
};
const FOUND = { results: [{ url: 'https://www.example.com/a', title: 'A', content: 'A is first.' }] };

const COMMENT = ': SIGNALBOX PROCESSING\n';

/** Signs of life of each format once its stream has begun. */
const SIGNS: Record<Path, string> = {
  '/chat/completions': COMMENT,
  '/responses': COMMENT,
  '/messages': 'event: ping\n',
};

/** Ends of the streams. */
const LAST: Record<Path, RegExp> = {
  '/chat/completions': /data: \[DONE\]\n\n$/,
  '/responses': /data: \[DONE\]\n\n$/,
  '/messages': /event: message_stop\n.*\n\n$/,
};

const count = (text: string, part: string) => text.split(part).length - 1;

/**
 * Data of the events as a strict decoder reads them: every blank line ends an event, also one without data, and a
 * client parses the data of each.
 */
function strictEvents(text: string): string[] {
  const events: string[] = [];
  let data = '';
  for (const line of text.split('\n')) {
    if (line === '') {
      events.push(data);
      data = '';
    } else if (line.startsWith('data: ')) {
      data += line.slice('data: '.length);
    }
  }
  expect(text.endsWith('\n\n')).toBe(true);
  // The text behind the last line end is no line.
  return events.slice(0, -1);
}

describe('a stream whose tool takes its time', () => {
  const [chat] = DOUBLES as [UpstreamDouble];

  it.each(PATHS)('is kept alive behind text of the first leg on %s', async (path) => {
    const gate = openGate();
    engine.answer([gate.wait, ...(reply(200, FOUND) as Step[])]);
    const upstream = doubles.upstreamOf(chat);
    upstream.answer(doubleAnswer(chat, { ...SEARCH, says: 'Wait. Wait. Wait.' }));
    upstream.answer(doubleAnswer(chat, { says: 'It is A.' }));
    const arriving = await stream(path, chat);
    await engine.request(0);
    const signs = () => count(arriving.text, SIGNS[path]);
    await arriving.until((text) => text.includes('Wait.'));
    const before = signs();
    await arriving.until(() => signs() >= before + 3);
    expect(upstream.requests).toHaveLength(1);
    gate.open();
    await arriving.untilEnd();
    expect(arriving.text).toMatch(LAST[path]);
    expect(upstream.requests).toHaveLength(2);
    expect(strictEvents(arriving.text)).not.toContain('');
  });

  it.each(PATHS)('is opened and kept alive if the first leg has no text on %s', async (path) => {
    const gate = openGate();
    engine.answer([gate.wait, ...(reply(200, FOUND) as Step[])]);
    const upstream = doubles.upstreamOf(chat);
    upstream.answer(doubleAnswer(chat, SEARCH));
    upstream.answer(doubleAnswer(chat, { says: 'It is A.' }));
    const arriving = await stream(path, chat);
    await arriving.until((text) => count(text, COMMENT) + count(text, SIGNS['/messages']) >= 3);
    expect(upstream.requests).toHaveLength(1);
    gate.open();
    await arriving.untilEnd();
    expect(arriving.text).toMatch(LAST[path]);
    expect(strictEvents(arriving.text)).not.toContain('');
  });
});

describe('official SDKs', () => {
  const [chat] = DOUBLES as [UpstreamDouble];
  const model = `one/${chat.dialect}`;

  /** Texts of a stream as the SDK of each format reads it. */
  const READERS: Record<Path, (client: OpenAI, anthropic: Anthropic) => Promise<string>> = {
    '/chat/completions': async ({ chat: { completions } }) => {
      const stream = completions.stream({ model, ...QUESTION['/chat/completions'] } as never);
      return (await stream.finalMessage()).content ?? '';
    },
    '/responses': async ({ responses }) => {
      const stream = responses.stream({ model, ...QUESTION['/responses'] });
      return (await stream.finalResponse()).output_text;
    },
    '/messages': async (_client, { messages }) => {
      return await messages.stream({ model, ...QUESTION['/messages'] } as never).finalText();
    },
  };

  it.each(PATHS)('read a stream that was kept alive before its first event on %s', async (path) => {
    const gate = openGate();
    const upstream = doubles.upstreamOf(chat);
    upstream.answer((request) => [gate.wait, ...doubleAnswer(chat, { says: 'It is A.' })(request)]);
    const seen: string[] = [];
    const watched = async (url: string | URL | Request, init?: RequestInit) => {
      const response = await fetch(url, init);
      const [copy, body] = response.body?.tee() ?? [];
      const comments = copy === undefined ? undefined : new ArrivingText(new Response(copy));
      const isKeptAlive = (text: string) => count(text, COMMENT) >= 2;
      comments
        ?.until(isKeptAlive)
        .then(() => seen.push(comments.text))
        .finally(gate.open);
      return new Response(body, response);
    };
    const options = { apiKey: gateway.apiKey, maxRetries: 0, fetch: watched as typeof fetch };
    const client = new OpenAI({ baseURL: gateway.url, ...options });
    const anthropic = new Anthropic({ baseURL: `${gateway.origin}/api`, ...options });
    expect(await READERS[path](client, anthropic)).toBe('It is A.');
    expect(seen[0]?.startsWith(COMMENT)).toBe(true);
  });
});

const PAIRS = PATHS.flatMap((path) => DOUBLES.map((double) => ({ path, double, dialect: double.dialect })));

describe('text of a later leg', () => {
  it.each(PAIRS)('arrives on $path while $dialect still writes', async ({ path, double }) => {
    const gate = openGate();
    engine.answer(reply(200, FOUND));
    const bytes = Buffer.from(double.textStream('Firstly. Secondly. Thirdly.'));
    // In the middle of the second piece of text.
    const cut = bytes.indexOf('Secondly');
    doubles
      .upstreamOf(double)
      .answer(doubleAnswer(double, SEARCH))
      .answer([
        head(200, { 'content-type': double.mediaType }),
        write(bytes.subarray(0, cut)),
        gate.wait,
        write(bytes.subarray(cut)),
        end(),
      ]);
    const arriving = await stream(path, double);
    await arriving.until((text) => text.includes('Firstly'));
    expect(arriving.text).not.toContain('Secondly');
    gate.open();
    await arriving.untilEnd();
    expect(arriving.text).toContain('Thirdly');
    expect(arriving.text).toMatch(LAST[path]);
  });
});
