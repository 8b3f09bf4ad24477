import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pdfOf } from '../../kit/builders/pdf.ts';
import { chatAnswer } from '../../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  flood,
  head,
  never,
  openFakeUpstream,
  type Script,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, readEvents, type TestGateway } from '../../kit/gateway-harness.ts';

const METADATA = { 'x-signalbox-metadata': 'enabled' };
const HTML = { 'content-type': 'text/html; charset=utf-8' };

let upstream: FakeUpstream;
let site: FakeUpstream;
/** On the same machine, and not allowed. */
let sentinel: FakeUpstream;
let gateway: TestGateway;
let pageUrl: string;

beforeAll(async () => {
  [upstream, site, sentinel] = await Promise.all([
    openFakeUpstream(),
    openFakeUpstream(),
    openFakeUpstream(),
  ]);
  pageUrl = `http://127.0.0.1:${site.port}`;
  sentinel.answer([head(200, HTML), write('secret of the house'), end()]);
  gateway = await openTestGateway({
    providers: [{ slug: 'acme', dialect: 'openai-chat', base_url: upstream.url }],
    models: [
      { id: 'm/one', endpoints: [{ provider: 'acme', model: 'one', supported_parameters: ['temperature'] }] },
      { id: 'm/tools', endpoints: [{ provider: 'acme', model: 'tools' }] },
    ],
    egress: { allow: [`127.0.0.1:${site.port}`] },
    tools: { limits: { fetch_ms: 1500, read_bytes: 200_000, result_characters: 20_000 } },
  } as never);
});
beforeEach(() => {
  upstream.clear();
  site.clear();
  upstream.answer(chatAnswer({ text: 'ok' }));
});
afterAll(async () => {
  await gateway.close();
  await Promise.all([upstream, site, sentinel].map((server) => server.close()));
});

/** The same message in the three formats. */
const FORMATS = {
  '/chat/completions': (text: string) => ({ messages: [{ role: 'user', content: text }] }),
  '/responses': (text: string) => ({ input: text }),
  '/messages': (text: string) => ({ max_tokens: 99, messages: [{ role: 'user', content: text }] }),
} as const;
type Path = keyof typeof FORMATS;
const PATHS = Object.keys(FORMATS) as Path[];

/** Sends a message and returns the pages that the model was told. */
async function ask(text: string, plugin: object = {}, path: Path = '/chat/completions') {
  const plugins = [{ id: 'web-fetch', ...plugin }];
  const response = await gateway.post(path, { model: 'm/one', ...FORMATS[path](text), plugins }, METADATA);
  const answer = (await response.json()) as any;
  const note = answer.signalbox_metadata?.pipeline?.find((entry: any) => entry.name === 'web-fetch');
  return { status: response.status, answer, note, pages: pagesIn(upstream.requests[0]?.json) };
}

function pagesIn(body: any): any[] {
  const text = (body?.messages ?? []).map((message: any) => JSON.stringify(message.content)).join('');
  const [content] = (body?.messages ?? []).slice(-1).map((message: any) => message.content);
  const told =
    typeof content === 'string' ? content : (content ?? []).map((part: any) => part.text).join('\n');
  expect(text).not.toContain('secret of the house');
  return told
    .split('\n')
    .filter((line: string) => line.startsWith('{"url"'))
    .map((line: string) => JSON.parse(line));
}

const page = (body: string, headers: Record<string, string> = HTML): Script => [
  head(200, headers),
  write(body),
  end(),
];

it('is counted in the usage of /messages', async () => {
  site.answer([head(200, HTML), write('<p>Page.</p>'), end()]);
  const { answer } = await ask(
    `Read ${pageUrl}/a and ${pageUrl.replace('127.0.0.1', '10.0.0.1')}/b`,
    {},
    '/messages',
  );
  expect(answer.usage.server_tool_use).toEqual({ web_search_requests: 0, web_fetch_requests: 1 });
});

describe.each(PATHS)('a model with tools on %s', (path) => {
  const calls = (...urls: string[]) =>
    chatAnswer({
      tools: urls.map((url, index) => ({
        id: `c${index}`,
        name: 'web_fetch',
        arguments: JSON.stringify({ url }),
      })),
    });

  it('gets the tool with the fields of the plugin, and the pipeline says what was read', async () => {
    upstream.clear();
    upstream.answer(calls(`${pageUrl}/1`, `${pageUrl}/2`)).answer(chatAnswer({ text: 'It says Hello.' }));
    site.answer(page('<p>Hello</p>'));
    const plugins = [{ id: 'web-fetch', max_uses: 1 }];
    const body = { model: 'm/tools', ...FORMATS[path]('Summarise that page.'), plugins };
    const answer = (await (await gateway.post(path, body, METADATA)).json()) as any;
    expect(JSON.stringify(answer)).toContain('It says Hello.');
    const [first, second] = upstream.requests.map(({ json }) => json);
    expect(first.tools.map((tool: any) => tool.function.name)).toEqual(['web_fetch']);
    const results = second.messages
      .filter(({ role }: any) => role === 'tool')
      .map(({ content }: any) => content);
    expect(results[0]).toContain('Hello');
    expect(results[1]).toContain('no more pages may be fetched');
    expect(site.requests).toHaveLength(1);
    expect(answer.signalbox_metadata.pipeline).toMatchObject([
      { type: 'plugin', name: 'web-fetch', data: { tool: 'signalbox:web_fetch' } },
      {
        type: 'server_tools',
        data: { pages: { read: 1, failed: 1, errors: ['no more pages may be fetched in this answer'] } },
      },
    ]);
  });
});

describe('pages in the last message', () => {
  it.each(PATHS)('are read into the prompt on %s', async (path) => {
    site.answer(page('<title>The page</title><nav>menu</nav><h1>Hello</h1><p>It says &quot;x&quot;.</p>'));
    const { status, note, pages } = await ask(`What does ${pageUrl}/a say?`, {}, path);
    expect(status).toBe(200);
    expect(pages).toEqual([
      {
        url: `${pageUrl}/a`,
        title: 'The page',
        content: expect.stringContaining('# Hello\n\nIt says "x".'),
        status: 'completed',
        retrieved_at: expect.stringMatching(/^\d{4}-/),
      },
    ]);
    expect(note).toMatchObject({ type: 'plugin', data: { fetches: 1, failed: 0 } });
    expect(site.requests[0]).toMatchObject({ method: 'GET', path: '/a' });
    expect(JSON.stringify(site.requests[0]?.headers)).not.toContain(gateway.apiKey);
  });

  it.each(PATHS)('are read before a stream on %s', async (path) => {
    site.answer(page('streamed', { 'content-type': 'text/plain' }));
    const plugins = [{ id: 'web-fetch' }];
    const body = { model: 'm/one', ...FORMATS[path](`Read ${pageUrl}/`), plugins, stream: true };
    const events = await readEvents(await gateway.post(path, body));
    expect(JSON.stringify(events)).toContain('ok');
    expect(pagesIn(upstream.requests[0]?.json)).toMatchObject([{ content: 'streamed' }]);
  });

  it.each(PATHS)('leave a request without addresses alone, and the pipeline says so on %s', async (path) => {
    const { status, note, pages } = await ask('Nothing to read.', {}, path);
    expect([status, pages]).toEqual([200, []]);
    expect(note).toMatchObject({
      type: 'plugin',
      name: 'web-fetch',
      summary: expect.stringMatching(/takes no tools, and the last message names no address/),
      data: { fetches: 0, failed: 0 },
    });
  });

  it('are recorded', async () => {
    site.answer(page('x'));
    const { answer } = await ask(`${pageUrl}/1 ${pageUrl}/2 file:///etc/passwd`);
    const reply = await gateway.fetch(`/generation?id=${answer.id}`);
    expect(((await reply.json()) as any).data).toMatchObject({ num_fetches: 2, total_cost: 0 });
  });

  it.each([
    ['text/plain', 'plain <b>text</b>', 'plain <b>text</b>'],
    ['application/json; charset=utf-8', '{"a": 1}', '{"a": 1}'],
    ['text/html; charset=iso-8859-1', Buffer.from('<p>Grüße</p>', 'latin1'), 'Grüße'],
    ['text/html', Buffer.from('<meta charset="iso-8859-1"><p>Grüße</p>', 'latin1'), 'Grüße'],
    ['', '<!doctype html><p>a</p>', 'a'],
    ['', 'plain', 'plain'],
  ])('of type %s are read', async (type, body, content) => {
    site.answer([head(200, type === '' ? {} : { 'content-type': type }), write(body), end()]);
    const { pages } = await ask(`${pageUrl}/`);
    expect(pages).toMatchObject([{ status: 'completed', content }]);
  });

  it('that are PDF files are read', async () => {
    site.answer([head(200, { 'content-type': 'application/pdf' }), write(pdfOf('Hello of the file')), end()]);
    const { pages } = await ask(`${pageUrl}/file.pdf`);
    expect(pages).toMatchObject([
      { status: 'completed', content: expect.stringContaining('Hello of the file') },
    ]);
  });
});

describe('what fails gives the model an error', () => {
  it.each([
    ['an error of the server', [head(404, HTML), write('gone'), end()], 'status 404'],
    ['a picture', page('\u0089PNG', { 'content-type': 'image/png' }), 'no readable text'],
    ['a server that hangs', [never()], 'took too long'],
    ['a broken PDF', page('%PDF-1.7 nonsense', { 'content-type': 'application/pdf' }), 'PDF'],
    [
      'a bomb',
      [head(200, { ...HTML, 'content-encoding': 'gzip' }), write(gzipSync(Buffer.alloc(9e6))), end()],
      '',
    ],
  ] as [string, Script, string][])('%s', async (_, script, words) => {
    site.answer(script);
    const { status, pages } = await ask(`${pageUrl}/`);
    expect(status).toBe(200);
    expect(pages).toHaveLength(1);
    if (words !== '')
      expect(pages[0]).toMatchObject({ status: 'failed', error: expect.stringContaining(words) });
  });

  it('addresses that must not be reached, spelt or redirected', async () => {
    site.answer([head(302, { location: `http://127.0.0.1:${sentinel.port}/` }), end()]);
    const forms = ['127.0.0.1', 'localhost', '[::1]', '2130706433', '0x7f000001', '0177.0.0.1', '127.1', '0'];
    const addresses = [
      `${pageUrl}/redirect`,
      ...forms.map((host) => `http://${host}:${sentinel.port}/`),
      'http://169.254.169.254/latest/meta-data/',
      'http://[::ffff:169.254.169.254]/',
      'file:///etc/passwd',
      'gopher://127.0.0.1/',
    ];
    const { status, note, pages } = await ask(addresses.join(' '));
    expect(status).toBe(200);
    expect(pages.map(({ status: each }) => each)).toEqual(addresses.map(() => 'failed'));
    expect(note.data).toMatchObject({ fetches: 0, failed: addresses.length });
    expect(sentinel.connections).toBe(0);
  });
});

describe('limits', () => {
  it('cut long and endless pages', async () => {
    site.answer(page('x'.repeat(10_000_000), { 'content-type': 'text/plain' }));
    site.answer([head(200, { 'content-type': 'text/plain' }), flood('y'.repeat(4096))]);
    const { pages } = await ask(`${pageUrl}/1 ${pageUrl}/2`);
    expect(pages.map(({ content }) => content.length)).toEqual([10_000, 10_000]);
  });

  it('are those of the plugin', async () => {
    site.answer(page('abcd'.repeat(100), { 'content-type': 'text/plain' }));
    const { pages } = await ask(`${pageUrl}/1 ${pageUrl}/2`, { max_uses: 1, max_content_tokens: 10 });
    expect(pages).toMatchObject([
      { status: 'completed', content: 'abcd'.repeat(10) },
      { url: `${pageUrl}/2`, status: 'failed', error: expect.stringContaining('max_uses') },
    ]);
    expect(site.requests).toHaveLength(1);
  });

  it('of domains hold for redirects too', async () => {
    site.answer([head(302, { location: '/blocked/x' }), end()]);
    const plugin = { allowed_domains: ['127.0.0.1'], blocked_domains: ['127.0.0.1/blocked'] };
    const { pages } = await ask(`${pageUrl}/ http://example.com/`, plugin);
    expect(pages).toMatchObject([
      { status: 'failed', error: 'the address is in a blocked domain' },
      { status: 'failed', error: 'the address is in none of the allowed domains' },
    ]);
    expect(site.requests).toHaveLength(1);
  });
});
