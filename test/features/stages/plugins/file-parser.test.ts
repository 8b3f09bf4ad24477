import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bombPdf, circularPdf, pdfOf } from '../../../kit/builders/pdf.ts';
import { chatAnswer } from '../../../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  head,
  JSON_TYPE,
  openFakeUpstream,
  reset,
  write,
} from '../../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../../kit/gateway-harness.ts';
import { ask, FORMATS, PATHS, type Path, WAYS } from './formats.ts';

let upstream: FakeUpstream;
let ocr: FakeUpstream;
let pages: Server;
let gateway: TestGateway;
let bare: TestGateway;

const PDF = pdfOf('The invoice is over 42 euros.', 'Second page');

beforeAll(async () => {
  upstream = await openFakeUpstream();
  ocr = await openFakeUpstream();
  pages = createServer((_, response) => response.end(PDF)).listen(0, '127.0.0.1');
  const provider = { slug: 'acme', name: 'Acme', dialect: 'openai-chat', base_url: upstream.url };
  const endpoints = [{ provider: 'acme', model: 'one' }];
  const models = [
    { id: 'm/text', input_modalities: ['text'], endpoints },
    { id: 'm/files', input_modalities: ['text', 'file'], endpoints },
  ];
  gateway = await openTestGateway({
    providers: [
      provider,
      { slug: 'eyes', name: 'Eyes', dialect: 'openai-chat', base_url: ocr.url, api_key: 'k' },
    ],
    models,
    plugins: { 'file-parser': { ocr: { provider: 'eyes', model: 'ocr-1', price_per_page: 0.25 } } },
    egress: { allow: ['127.0.0.1'] },
  } as never);
  bare = await openTestGateway({ providers: [provider], models } as never);
});
beforeEach(() => {
  upstream.clear();
  ocr.clear();
  upstream.answer(chatAnswer({ text: 'It is over 42 euros.' }));
});
afterAll(async () => {
  await gateway.close();
  await bare.close();
  await upstream.close();
  await ocr.close();
  pages.close();
});

/** A question about a file, in each format. */
const ABOUT: Readonly<Record<Path, (file: Buffer | string, name: string) => object>> = {
  '/chat/completions': (file, filename) => ({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'How much?' },
          { type: 'file', file: { filename, file_data: addressOf(file) } },
        ],
      },
    ],
  }),
  '/responses': (file, filename) => ({
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'How much?' },
          typeof file === 'string'
            ? { type: 'input_file', filename, file_url: file }
            : { type: 'input_file', filename, file_data: addressOf(file) },
        ],
      },
    ],
  }),
  '/messages': (file, title) => ({
    max_tokens: 99,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'How much?' },
          {
            type: 'document',
            title,
            source:
              typeof file === 'string'
                ? { type: 'url', url: file }
                : { type: 'base64', media_type: 'application/pdf', data: file.toString('base64') },
          },
        ],
      },
    ],
  }),
};

function addressOf(file: Buffer | string): string {
  return typeof file === 'string' ? file : `data:application/pdf;base64,${file.toString('base64')}`;
}

const sent = () => JSON.stringify(upstream.requests[0]?.json.messages);

describe.each(WAYS)('a PDF on %s, streamed: %s', (path, stream) => {
  it('is read for a model that takes no files, without being asked', async () => {
    const body = { model: 'm/text', stream, ...ABOUT[path](PDF, 'bill.pdf') };
    const { status, metadata, answer, events } = await ask(gateway, path, body);
    expect(status).toBe(200);
    expect(sent()).toContain('The invoice is over 42 euros.\\n\\nSecond page\\n</file>');
    expect(metadata.pipeline).toContainEqual(
      expect.objectContaining({
        name: 'file-parser',
        data: expect.objectContaining({ engine: 'cloudflare-ai', pages: 2, truncated: false }),
      }),
    );
    const annotations = stream
      ? events.flatMap(({ data }) => data?.choices?.[0]?.delta?.annotations ?? [])
      : (answer.choices?.[0].message.annotations ?? []);
    expect(annotations).toHaveLength(path === '/chat/completions' ? 1 : 0);
    if (path !== '/chat/completions') return;
    expect(annotations[0]).toMatchObject({
      type: 'file',
      file: { hash: expect.stringMatching(/^[0-9a-f]{64}$/), name: 'bill.pdf', content: [{ type: 'text' }] },
    });
  });

  it('goes to a model that takes files as it is', async () => {
    const { status } = await ask(gateway, path, {
      model: 'm/files',
      stream,
      ...ABOUT[path](PDF, 'bill.pdf'),
    });
    expect(status).toBe(200);
    expect(sent()).toContain(PDF.toString('base64'));
    expect(sent()).not.toContain('invoice');
  });
});

describe.each(PATHS)('the plugin on %s', (path) => {
  const askWith = (engine: string, model = 'm/files', at = gateway) =>
    ask(at, path, {
      model,
      plugins: [{ id: 'file-parser', pdf: { engine } }],
      ...ABOUT[path](PDF, 'bill.pdf'),
    });

  it.each(['cloudflare-ai', 'pdf-text'])('reads with %s also what the model could read', async (engine) => {
    expect((await askWith(engine)).status).toBe(200);
    expect(sent()).toContain('The invoice is over 42 euros.');
    expect(sent()).not.toContain(PDF.toString('base64'));
  });

  it('passes on with native, which a model without files refuses', async () => {
    expect((await askWith('native')).status).toBe(200);
    expect(sent()).toContain(PDF.toString('base64'));
    expect((await askWith('native', 'm/text')).status).toBe(404);
  });

  it('reads nothing where the plugin is switched off, and says why no model can', async () => {
    const plugins = [{ id: 'file-parser', enabled: false }];
    const askFor = (model: string) => ask(gateway, path, { model, plugins, ...ABOUT[path](PDF, 'bill.pdf') });
    expect((await askFor('m/files')).status).toBe(200);
    expect(sent()).toContain(PDF.toString('base64'));
    upstream.requests.length = 0;
    const { status, answer } = await askFor('m/text');
    expect(status).toBe(404);
    expect(answer.error.message).toMatch(/file/);
    expect(upstream.requests).toHaveLength(0);
  });

  it('refuses mistral-ocr that is not configured, without a file too', async () => {
    const plugins = [{ id: 'file-parser', pdf: { engine: 'mistral-ocr' } }];
    const body = { model: 'm/text', plugins, ...FORMATS[path].of('Hi') };
    const { status, answer } = await ask(bare, path, body);
    expect(status).toBe(400);
    expect(answer.error.message).toContain('plugins[0].pdf.engine: mistral-ocr is not configured');
    expect((await ask(gateway, path, body)).status).toBe(200);
  });

  it('has a service read with mistral-ocr, once for each content', async () => {
    const read = [
      { index: 0, markdown: '# By eye' },
      { index: 1, markdown: '' },
    ];
    ocr.answer([head(200, JSON_TYPE), write(JSON.stringify({ pages: read })), end()]);
    const { status, headers } = await askWith('mistral-ocr');
    expect(status).toBe(200);
    expect(sent()).toContain('# By eye');
    const record = (
      (await (await gateway.fetch(`/generation?id=${headers.get('x-generation-id')}`)).json()) as any
    ).data;
    // The first format has asked the service; the others find the text.
    expect(ocr.requests).toHaveLength(path === PATHS[0] ? 1 : 0);
    if (path === PATHS[0]) {
      expect(ocr.requests[0]).toMatchObject({ path: '/v1/ocr', json: { model: 'ocr-1' } });
    }
    // A page costs 0.25 USD; a text that is known costs nothing.
    expect(record.total_cost).toBe(path === PATHS[0] ? 0.5 : 0);
  });

  it('refuses mistral-ocr where it is not configured', async () => {
    const { status, answer } = await askWith('mistral-ocr', 'm/files', bare);
    expect(status).toBe(400);
    expect(answer.error.message).toMatch(/^plugins\[0\]\.pdf\.engine: mistral-ocr is not configured/);
  });

  it('refuses a broken file by its name', async () => {
    const { status, answer } = await ask(gateway, path, {
      model: 'm/text',
      ...ABOUT[path](circularPdf(), 'odd.pdf'),
    });
    expect(status).toBe(400);
    expect(answer.error.message).toBe('The file "odd.pdf" is no PDF that can be read');
    expect(upstream.requests).toHaveLength(0);
  });

  it('tells the text again when the call fails', async () => {
    upstream.clear();
    upstream.answer([head(500), write('{}'), end()]);
    const { status, answer } = await ask(gateway, path, { model: 'm/text', ...ABOUT[path](PDF, 'bill.pdf') });
    expect(status).toBeGreaterThanOrEqual(500);
    expect(answer.error.metadata.file_annotations).toMatchObject([
      { type: 'file', file: { name: 'bill.pdf', content: [{ text: expect.stringContaining('42 euros') }] } },
    ]);
  });
});

it.each(['/responses', '/messages'] as const)('reads the PDF behind an address on %s', async (path) => {
  const { port } = pages.address() as AddressInfo;
  const file = `http://127.0.0.1:${port}/bill.pdf`;
  expect((await ask(gateway, path, { model: 'm/text', ...ABOUT[path](file, 'bill.pdf') })).status).toBe(200);
  expect(sent()).toContain('The invoice is over 42 euros.');
  const refused = await ask(bare, path, { model: 'm/text', ...ABOUT[path](file, 'bill.pdf') });
  expect(refused.status).toBe(400);
  expect(refused.answer.error.message).toMatch(/^The file "bill.pdf" cannot be fetched/);
});

it('answers others while it reads a hostile file', async () => {
  const file = bombPdf(2000);
  const began = performance.now();
  const reading = ask(gateway, '/chat/completions', {
    model: 'm/text',
    ...ABOUT['/chat/completions'](file, 'bomb.pdf'),
  });
  const waits: number[] = [];
  let isOver = false;
  void reading.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const asked = performance.now();
    const other = await ask(gateway, '/responses', { model: 'm/text', input: 'Hi' });
    expect(other.status).toBe(200);
    waits.push(performance.now() - asked);
  }
  const { status, answer } = await reading;
  expect(status).toBe(400);
  expect(answer.error.message).toMatch(/^The file "bomb.pdf" is a PDF that takes too/);
  expect(performance.now() - began).toBeLessThan(40_000);
  expect(waits.sort((a, b) => a - b)[Math.floor(waits.length / 2)]).toBeLessThan(3000);
});

describe('pages that have a price', () => {
  const pages = (count: number, more: object = {}) => [
    head(200, JSON_TYPE),
    write(JSON.stringify({ pages: Array(count).fill({ markdown: 'By eye' }), ...more })),
    end(),
  ];
  const PRICE = 0.25;
  const keyOf = async (limit: number | null, at = gateway) => {
    const made = await at.fetch('/keys', {
      method: 'POST',
      key: at.managementKey,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'limited', limit }),
    });
    return ((await made.json()) as any).key as string;
  };
  const askAbout = async (file: Buffer, key: string, at = gateway) => {
    const body = {
      model: 'm/text',
      plugins: [{ id: 'file-parser', pdf: { engine: 'mistral-ocr' } }],
      ...ABOUT['/chat/completions'](file, 'a.pdf'),
    };
    const headers = { 'content-type': 'application/json' };
    const reply = await at.fetch('/chat/completions', {
      method: 'POST',
      body: JSON.stringify(body),
      headers,
      key,
    });
    const text = await reply.text();
    return { status: reply.status, text, id: reply.headers.get('x-generation-id') };
  };
  const usageOf = async (key: string) =>
    ((await (await gateway.fetch('/key', { key })).json()) as any).data.usage;
  const recordOf = async (id: string | null) => {
    const find = async () => {
      const found = await gateway.fetch(`/generation?id=${id}`);
      return found.status === 200 ? ((await found.json()) as any).data : undefined;
    };
    await expect.poll(find).toBeDefined();
    return find();
  };

  it('are counted and paid before the service is called, which is asked for no others', async () => {
    ocr.answer(pages(3));
    const [poor, rich] = [await keyOf(0.74), await keyOf(5)];
    const file = pdfOf('one', 'two', 'three of a file');
    const refused = await askAbout(file, poor);
    expect([refused.status, ocr.requests.length, await usageOf(poor)]).toEqual([402, 0, 0]);
    expect([(await askAbout(file, rich)).status, await usageOf(rich)]).toEqual([200, 3 * PRICE]);
    expect(ocr.requests.map(({ json }) => json.pages)).toEqual([[0, 1, 2]]);
    // The text is known now: it is free for every key.
    expect([(await askAbout(file, poor)).status, await usageOf(poor)]).toEqual([200, 0]);
    expect(ocr.requests).toHaveLength(1);
  });

  it('are never read for a key without money, however many requests it sends', async () => {
    for (let at = 0; at < 6; at += 1) ocr.answer(pages(40));
    const key = await keyOf(0.02);
    const files = [...Array(6).keys()].map((at) => pdfOf(...Array(40).fill(`scan ${at}`)));
    const asked = await Promise.all(files.map((file) => askAbout(file, key)));
    expect(asked.map(({ status }) => status)).toEqual(Array(6).fill(402));
    expect([ocr.requests.length, await usageOf(key)]).toEqual([0, 0]);
  });

  it('are bounded', async () => {
    const { status, text } = await askAbout(pdfOf(...Array(1001).fill('x')), await keyOf(5000));
    expect([status, text]).toEqual([
      400,
      expect.stringContaining('The file \\"a.pdf\\" has 1001 pages: mistral-ocr reads at most 1000'),
    ]);
    expect(ocr.requests).toHaveLength(0);
  });

  it('are no more than the file says, whatever it holds', async () => {
    ocr.answer(pages(1));
    const key = await keyOf(5);
    const file = pdfOf('one', 'two', 'said to be one').toString('latin1').replace('/Count 3', '/Count 1');
    const { status } = await askAbout(Buffer.from(file, 'latin1'), key);
    expect([status, await usageOf(key)]).toEqual([200, PRICE]);
    expect(ocr.requests[0]?.json.pages).toEqual([0]);
  });

  it('that cannot be counted are not read', async () => {
    const broken = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(2000, 'x')]);
    const { status, text } = await askAbout(broken, await keyOf(5));
    expect([status, text]).toEqual([
      400,
      expect.stringContaining('The file \\"a.pdf\\" is no PDF that can be read'),
    ]);
    expect(ocr.requests).toHaveLength(0);
  });

  it.each([
    ['delivers', pages(5)],
    ['reports', pages(2, { usage_info: { pages_processed: 5 } })],
  ])('beyond those that were counted are written off if the service %s them', async (verb, answer) => {
    ocr.answer(answer);
    const key = await keyOf(5);
    const { status, id } = await askAbout(pdfOf('one', `two of ${verb}`), key);
    expect([status, await usageOf(key)]).toEqual([200, 2 * PRICE]);
    expect(await recordOf(id)).toMatchObject({
      total_cost: 2 * PRICE,
      written_off: 3 * PRICE,
      written_off_cause: 'tools',
    });
  });

  it('are paid by one of the requests that bring a file at the same time', async () => {
    ocr.answer(pages(2));
    const [poor, rich] = [await keyOf(0.3), await keyOf(5)];
    const file = pdfOf('one', 'two pages');
    const asked = await Promise.all([poor, rich, rich].map((key) => askAbout(file, key)));
    expect(asked.slice(1).map(({ status }) => status)).toEqual([200, 200]);
    expect(await usageOf(rich)).toBe(2 * PRICE);
    expect(ocr.requests).toHaveLength(1);
  });

  it.each([
    ['refuses', [head(500), write('{}'), end()], 0],
    ['answers too late for a proxy', [head(504), write('{}'), end()], PRICE],
    ['answers what is no JSON', [head(200, JSON_TYPE), write('{"pages": [}'), end()], PRICE],
    ['answers without pages', [head(200, JSON_TYPE), write('{"pages": 7}'), end()], PRICE],
    ['breaks off', [head(200, JSON_TYPE), write('{"pages": ['), reset()], PRICE],
  ])('cost only what the service may bill if it %s', async (name, answer, cost) => {
    ocr.answer(answer);
    const key = await keyOf(5);
    const { status, id } = await askAbout(pdfOf(`a service that ${name}`), key);
    expect([status, ocr.requests.length, await usageOf(key)]).toEqual([503, 1, cost]);
    if (cost > 0) expect((await recordOf(id)).total_cost).toBe(cost);
  });

  describe('that is not in the configuration', () => {
    const configured = (price: object) =>
      openTestGateway({
        providers: [
          { slug: 'acme', name: 'Acme', dialect: 'openai-chat', base_url: upstream.url },
          { slug: 'mistral', name: 'Mistral', dialect: 'openai-chat', base_url: ocr.url, api_key: 'k' },
        ],
        models: [
          { id: 'm/text', input_modalities: ['text'], endpoints: [{ provider: 'acme', model: 'one' }] },
        ],
        plugins: { 'file-parser': { ocr: { provider: 'mistral', model: 'ocr-1', ...price } } },
      } as never);

    it('are read only for keys without limits', async () => {
      const unpriced = await configured({});
      try {
        const [limited, free] = [await keyOf(5, unpriced), await keyOf(null, unpriced)];
        const file = pdfOf('no price');
        const refused = await askAbout(file, limited, unpriced);
        expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('price_per_page')]);
        expect(ocr.requests).toHaveLength(0);
        ocr.answer(pages(1));
        expect((await askAbout(file, free, unpriced)).status).toBe(200);
      } finally {
        await unpriced.close();
      }
    });

    it('are free for all with a price of 0', async () => {
      const free = await configured({ price_per_page: 0 });
      try {
        ocr.answer(pages(1));
        expect((await askAbout(pdfOf('free'), await keyOf(5, free), free)).status).toBe(200);
      } finally {
        await free.close();
      }
    });
  });
});

it('mistral-ocr needs a configuration of its own, also beside a provider mistral', async () => {
  const beside = await openTestGateway({
    providers: [
      { slug: 'acme', name: 'Acme', dialect: 'openai-chat', base_url: upstream.url },
      { slug: 'mistral', name: 'Mistral', dialect: 'openai-chat', base_url: ocr.url, api_key: 'k' },
    ],
    models: [{ id: 'm/text', input_modalities: ['text'], endpoints: [{ provider: 'acme', model: 'one' }] }],
  } as never);
  try {
    const body = {
      model: 'm/text',
      plugins: [{ id: 'file-parser', pdf: { engine: 'mistral-ocr' } }],
      ...ABOUT['/chat/completions'](PDF, 'a.pdf'),
    };
    const reply = await beside.post('/chat/completions', body);
    expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining('is not configured')]);
    expect(ocr.requests).toHaveLength(0);
  } finally {
    await beside.close();
  }
});
