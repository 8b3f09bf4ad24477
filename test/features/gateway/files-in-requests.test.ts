import { createHash } from 'node:crypto';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Format } from '../../../src/ir/items.ts';
import { chatAnswer, messagesAnswer, responsesAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, readEvents, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';

const FORMATS: readonly Format[] = ['responses', 'messages', 'chat'];
const DIALECTS = { chat: 'openai-chat', responses: 'openai-responses', messages: 'anthropic-messages' };
const ANSWERS = { chat: chatAnswer, responses: responsesAnswer, messages: messagesAnswer };
const PATHS = { chat: '/chat/completions', responses: '/responses', messages: '/messages' };
const UNKNOWN_FILE = `file_${'0'.repeat(24)}`;
const MAX_BODY_BYTES = 400_000;

let upstream: FakeUpstream;
let gateway: TestGateway;
let management: Management;
/** A key of another workspace of the account, and one of another account. */
let otherWorkspace: string;
let otherAccount: string;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  const model = (id: string, format: string, inputs: string[]) => ({
    id,
    input_modalities: inputs,
    max_output_tokens: 1000,
    endpoints: [
      { provider: `p-${format}`, model: 'm', pricing: { prompt: '0.000001', completion: '0.000002' } },
    ],
  });
  gateway = await openTestGateway({
    server: { max_body_bytes: MAX_BODY_BYTES },
    providers: Object.entries(DIALECTS).map(([format, dialect]) => ({
      slug: `p-${format}`,
      dialect,
      base_url: upstream.url,
      api_key: 'k',
    })),
    models: [
      ...FORMATS.map((format) => model(`up/${format}`, format, ['text', 'image', 'file', 'audio'])),
      model('up/text-only', 'chat', ['text']),
    ],
    prompts: { read: { input: 'Read {{doc}}' } },
  });
  management = managementOf(gateway);
  const keyOf = async (body: object, managementKey?: string) =>
    (await management.ask('POST', '/keys', { name: 'k', ...body }, managementKey)).body.key as string;
  const { id } = await management.data(201, 'POST', '/workspaces', { name: 'Team', slug: 'team' });
  otherWorkspace = await keyOf({ workspace_id: id });
  const stranger = await management.command('accounts.create', { name: 'stranger' });
  otherAccount = await keyOf({}, stranger.management_key);
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(() => upstream.clear());

/** Pseudo-random bytes, the same in every run. */
function noise(length: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, index) =>
    createHash('sha256').update(`noise ${index}`).digest(),
  );
  return Buffer.concat(blocks).subarray(0, length);
}

const PDF = Buffer.concat([Buffer.from('%PDF-1.7\n'), noise(100_001)]);
const PNG = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), noise(70_000)]);
const MP3 = Buffer.concat([Buffer.from('ID3'), noise(1000)]);
const DOCX = Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(26), Buffer.from('word/document.xml')]);
const CSV = 'name,größe\n"Ä, 1",10 €\n';

const uploads = new Map<string, Promise<string>>();

/** The id of a file with this content, uploaded when it is first asked for. */
function stored(content: Uint8Array | string, filename: string, key = gateway.apiKey): Promise<string> {
  const known = uploads.get(`${filename} ${key}`) ?? upload(content, filename, key);
  uploads.set(`${filename} ${key}`, known);
  return known;
}

async function upload(content: Uint8Array | string, filename: string, key: string): Promise<string> {
  const form = new FormData();
  form.append('file', new Blob([content]), filename);
  const response = await gateway.fetch('/files', { method: 'POST', body: form, key });
  expect(response.status).toBe(200);
  return ((await response.json()) as any).id;
}

/** A body of each format in which the user says these parts. */
const BODIES: Record<Format, (model: string, parts: object[]) => object> = {
  responses: (model, parts) => ({ model, input: [{ role: 'user', content: parts }] }),
  messages: (model, parts) => ({ model, max_tokens: 100, messages: [{ role: 'user', content: parts }] }),
  chat: (model, parts) => ({ model, messages: [{ role: 'user', content: parts }] }),
};
const TEXTS: Record<Format, object> = {
  responses: { type: 'input_text', text: 'Read this' },
  messages: { type: 'text', text: 'Read this' },
  chat: { type: 'text', text: 'Read this' },
};
/** A part of each format that names a file. */
const NAMING: Record<Format, (id: string) => object> = {
  responses: (id) => ({ type: 'input_file', file_id: id }),
  messages: (id) => ({ type: 'document', source: { type: 'file', file_id: id } }),
  chat: (id) => ({ type: 'file', file: { file_id: id } }),
};
/** The member that names it. */
const MEMBERS: Record<Format, string> = {
  responses: 'input[0].content[1].file_id',
  messages: 'messages[0].content[1].source.file_id',
  chat: 'messages[0].content[1].file.file_id',
};

const bodyWith = (format: Format, part: object, model = 'up/chat') =>
  BODIES[format](model, [TEXTS[format], part]);

async function ask(format: Format, body: object, key?: string) {
  const response = await gateway.fetch(PATHS[format], {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', 'x-signalbox-metadata': 'enabled' },
    ...(key && { key }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
}

const pngData = PNG.toString('base64');
const pdfData = PDF.toString('base64');

/** A part of each kind with its content inline. */
const INLINE: Record<string, Record<Format, object>> = {
  PDF: {
    responses: {
      type: 'input_file',
      filename: 'report.pdf',
      file_data: `data:application/pdf;base64,${pdfData}`,
    },
    messages: {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: pdfData },
      title: 'report.pdf',
    },
    chat: {
      type: 'file',
      file: { filename: 'report.pdf', file_data: `data:application/pdf;base64,${pdfData}` },
    },
  },
  image: {
    responses: { type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${pngData}` },
    messages: { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pngData } },
    chat: { type: 'image_url', image_url: { url: `data:image/png;base64,${pngData}` } },
  },
  text: {
    responses: { type: 'input_text', text: `sizes.csv\n${CSV}` },
    messages: {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: CSV },
      title: 'sizes.csv',
    },
    chat: { type: 'text', text: `sizes.csv\n${CSV}` },
  },
};
const CONTENTS: Record<string, [content: Uint8Array | string, filename: string]> = {
  PDF: [PDF, 'report.pdf'],
  image: [PNG, 'photo.png'],
  text: [CSV, 'sizes.csv'],
};

describe.each(FORMATS)('a stored file named in the %s format', (format) => {
  describe.each(FORMATS)('for a %s upstream', (served) => {
    it.each(Object.keys(INLINE))('is sent like the content itself: %s', async (kind) => {
      upstream.answer(ANSWERS[served]({ text: 'ok', usage: { input: 123, output: 45 } }));
      const [content, filename] = CONTENTS[kind] ?? ['', ''];
      const id = await stored(content, filename);
      const inline = INLINE[kind]?.[format] ?? {};
      const named = await ask(format, bodyWith(format, NAMING[format](id), `up/${served}`));
      expect(named.status).toBe(200);
      expect((await ask(format, bodyWith(format, inline, `up/${served}`))).status).toBe(200);
      const [first, second] = upstream.requests;
      expect(first?.json).toEqual(second?.json);
      expect(first?.body).not.toContain(id);
      const bytes = kind === 'PDF' ? pdfData : pngData;
      if (kind === 'text')
        expect(first?.body.includes('größe') || first?.body.includes('text/plain;base64')).toBe(true);
      else expect(first?.body).toContain(bytes);
      const { usage } = named.body;
      expect(usage.input_tokens ?? usage.prompt_tokens).toBe(123);
    });
  });
});

describe('a stored file', () => {
  it('can be in the result of a tool, in all formats', async () => {
    upstream.answer(chatAnswer({ text: 'ok' }));
    const id = await stored(CSV, 'sizes.csv');
    const call = { type: 'function', id: 'c1', function: { name: 'f', arguments: '{}' } };
    const bodies: [Format, object][] = [
      [
        'responses',
        {
          model: 'up/chat',
          input: [
            { role: 'user', content: 'Hi' },
            { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
            { type: 'function_call_output', call_id: 'c1', output: [NAMING.responses(id)] },
          ],
        },
      ],
      [
        'messages',
        {
          model: 'up/chat',
          max_tokens: 9,
          messages: [
            { role: 'user', content: 'Hi' },
            { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'f', input: {} }] },
            {
              role: 'user',
              content: [{ type: 'tool_result', tool_use_id: 'c1', content: [NAMING.messages(id)] }],
            },
          ],
        },
      ],
      [
        'chat',
        {
          model: 'up/chat',
          messages: [
            { role: 'user', content: 'Hi' },
            { role: 'assistant', tool_calls: [call] },
            { role: 'tool', tool_call_id: 'c1', content: [NAMING.chat(id)] },
          ],
        },
      ],
    ];
    for (const [index, [format, body]] of bodies.entries()) {
      expect((await ask(format, body)).status).toBe(200);
      expect(JSON.stringify(upstream.requests[index]?.json.messages)).toContain(
        JSON.stringify(CSV).slice(1, -1),
      );
    }
  });

  it('is sent as audio if it is a sound, and unchanged if it is an office document', async () => {
    upstream.answer(chatAnswer({ text: 'ok' }));
    const heard = await ask('chat', bodyWith('chat', NAMING.chat(await stored(MP3, 'voice.mp3'))));
    expect(heard.status).toBe(200);
    expect(upstream.requests[0]?.json.messages[0].content[1]).toEqual({
      type: 'input_audio',
      input_audio: { data: MP3.toString('base64'), format: 'mp3' },
    });
    expect(heard.body.signalbox_metadata.translation).toContainEqual({
      field: 'messages[0].content[1]',
      action: 'coerced',
      detail: 'the file is sent as input_audio',
    });
    await ask('responses', bodyWith('responses', NAMING.responses(await stored(DOCX, 'plan.docx'))));
    const type = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
    expect(upstream.requests[1]?.json.messages[0].content[1]).toEqual({
      type: 'file',
      file: { filename: 'plan.docx', file_data: `data:${type};base64,${DOCX.toString('base64')}` },
    });
  });

  it('leaves everything else of a relayed body as it came', async () => {
    upstream.answer(responsesAnswer({ text: 'ok' }));
    const id = await stored(PDF, 'report.pdf');
    const other = { type: 'input_text', text: 'x', odd: [1, { deep: null }] };
    const body = {
      model: 'up/responses',
      input: [
        { role: 'user', content: [other, NAMING.responses(id), { type: 'input_file', file_id: 'file-9' }] },
      ],
      odd_field: { a: [1.5, 'b'] },
    };
    expect((await ask('responses', body)).status).toBe(200);
    expect(upstream.requests[0]?.json).toMatchObject({
      input: [
        { role: 'user', content: [other, INLINE.PDF?.responses, { type: 'input_file', file_id: 'file-9' }] },
      ],
      odd_field: { a: [1.5, 'b'] },
    });
  });

  it('can be the variable of a prompt', async () => {
    upstream.answer(chatAnswer({ text: 'ok' }));
    const id = await stored(PDF, 'report.pdf');
    const prompt = { id: 'read', variables: { doc: NAMING.responses(id) } };
    const { status, body } = await ask('responses', { model: 'up/chat', prompt });
    expect(status).toBe(200);
    expect(body.prompt).toEqual(prompt);
    expect(upstream.requests[0]?.json.messages[0].content[1]).toEqual(INLINE.PDF?.chat);
  });

  it('decides by its kind which endpoints can serve, and is counted by its kind', async () => {
    upstream.answer(chatAnswer({ text: 'ok' }));
    const pdf = await stored(PDF, 'report.pdf');
    const text = await stored('word '.repeat(5000), 'long.txt');
    const ruledOut = await ask('chat', bodyWith('chat', NAMING.chat(pdf), 'up/text-only'));
    // For a model without files it is read as text, and it has none.
    expect(ruledOut.status).toBe(400);
    expect(ruledOut.body.error.message).toBe('The file "report.pdf" is no PDF that can be read');
    expect(upstream.requests).toHaveLength(0);
    expect((await ask('chat', bodyWith('chat', NAMING.chat(text), 'up/text-only'))).status).toBe(200);
    const count = async (part: object) =>
      (await (await gateway.post('/messages/count_tokens', bodyWith('messages', part))).json()) as any;
    const { input_tokens: tokens } = await count(NAMING.messages(text));
    const { input_tokens: inline } = await count({
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'word '.repeat(5000) },
    });
    expect(tokens).toBe(inline);
    expect(tokens).toBeGreaterThan(4000);
    const explained = (await (
      await gateway.post('/routing/explain', {
        format: 'messages',
        ...bodyWith('messages', NAMING.messages(text)),
      })
    ).json()) as any;
    expect(explained.data.estimate.prompt_tokens).toBe(tokens);
  });

  it('is billed like any prompt', async () => {
    upstream.answer(chatAnswer({ text: 'ok', usage: { input: 1000, output: 100 } }));
    const { headers } = await ask('chat', bodyWith('chat', NAMING.chat(await stored(PNG, 'photo.png'))));
    const id = headers.get('x-generation-id');
    await expect.poll(async () => (await gateway.fetch(`/generation?id=${id}`)).status).toBe(200);
    const { data } = (await (await gateway.fetch(`/generation?id=${id}`)).json()) as any;
    expect(data).toMatchObject({ total_cost: 0.0012, num_media_prompt: 1 });
  });

  it('is in no log line, and in the echo as content of callers is', async () => {
    upstream.answer(chatAnswer({ text: 'ok' }));
    const id = await stored(PDF, 'report.pdf');
    const body = {
      ...bodyWith('responses', NAMING.responses(id)),
      stream: true,
      debug: { echo_upstream_body: true },
    };
    const events = await readEvents(await gateway.post('/responses', body));
    expect(JSON.stringify(events)).toContain(pdfData);
    expect(gateway.logText()).not.toContain(pdfData.slice(0, 64));
    expect(gateway.logText()).not.toContain('größe');
  });
});

describe('refused is', () => {
  /** Sends a body to a route and expects a refusal without an upstream call. */
  const refused = async (path: string, body: object, key?: string) => {
    const spent = async () => ((await (await gateway.fetch('/key')).json()) as any).data.usage as number;
    const before = await spent();
    const logged = gateway.logged('generation').length;
    const response = await gateway.fetch(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
      ...(key && { key }),
    });
    const { error } = (await response.json()) as any;
    const id = response.headers.get('x-generation-id');
    expect(id === null).toBe(path === '/routing/explain');
    if (id !== null) {
      expect((await gateway.fetch(`/generation?id=${id}`, { ...(key && { key }) })).status).toBe(404);
    }
    expect(gateway.logged('generation')).toHaveLength(logged);
    expect(upstream.requests).toEqual([]);
    expect(await spent()).toBe(before);
    return { status: response.status, message: error.message as string };
  };

  const ROUTES: [path: string, format: Format, more: object][] = [
    ...FORMATS.map((format): [string, Format, object] => [PATHS[format], format, {}]),
    ['/messages/count_tokens', 'messages', {}],
    ...FORMATS.map((format): [string, Format, object] => ['/routing/explain', format, { format }]),
  ];

  it.each(ROUTES)(
    '%s, %s format: files of others, like files that are not there',
    async (path, format, more) => {
      const theirs = await stored(PDF, 'secret.pdf', otherAccount);
      const colleagues = await stored(PDF, 'secret.pdf', otherWorkspace);
      const own = await stored(PDF, 'own.pdf');
      for (const [id, key] of [
        [UNKNOWN_FILE, undefined],
        ['file_x', undefined],
        [theirs, undefined],
        [colleagues, undefined],
        [own, otherWorkspace],
      ] as const) {
        const { max_tokens: _unknownToCounting, ...body } = bodyWith(format, NAMING[format](id)) as any;
        const whole = path === '/messages/count_tokens' ? body : bodyWith(format, NAMING[format](id));
        expect(await refused(path, { ...whole, ...more }, key)).toEqual({
          status: 404,
          message: `${MEMBERS[format]}: there is no such file in the workspace of this key`,
        });
      }
    },
  );

  it('a missing file, before a stream begins', async () => {
    for (const format of FORMATS) {
      const body = { ...bodyWith(format, NAMING[format](UNKNOWN_FILE)), stream: true };
      expect((await refused(PATHS[format], body)).status).toBe(404);
    }
  });

  it('a file that was deleted', async () => {
    const id = await stored(PDF, 'deleted.pdf');
    expect((await gateway.fetch(`/files/${id}`, { method: 'DELETE' })).status).toBe(200);
    expect((await refused('/responses', bodyWith('responses', NAMING.responses(id)))).status).toBe(404);
  });

  it.each<[string, Format, (ids: Record<'pdf' | 'mp3', string>) => object, RegExp]>([
    [
      'a PDF as an image',
      'responses',
      ({ pdf }) => ({ type: 'input_image', file_id: pdf }),
      /^input\[0\]\.content\[1\]\.file_id: names a file of type application\/pdf: this part takes images$/,
    ],
    [
      'a PDF as an image',
      'messages',
      ({ pdf }) => ({ type: 'image', source: { type: 'file', file_id: pdf } }),
      /^messages\[0\]\.content\[1\]\.source\.file_id: names a file of type application\/pdf/,
    ],
    [
      'sound, where no block takes it',
      'messages',
      ({ mp3 }) => NAMING.messages(mp3),
      /audio\/mpeg: this part takes images, documents, text$/,
    ],
    [
      'two sources',
      'chat',
      ({ pdf }) => ({ type: 'file', file: { file_id: pdf, file_data: 'data:application/pdf;base64,QUJD' } }),
      /file_id: cannot be combined with file\.file_data$/,
    ],
    [
      'a file for a container',
      'messages',
      ({ pdf }) => ({ type: 'container_upload', file_id: pdf }),
      /content\[1\]\.file_id: names a stored file/,
    ],
  ])('%s (%s)', async (_, format, part, message) => {
    const ids = { pdf: await stored(PDF, 'a.pdf'), mp3: await stored(MP3, 'a.mp3') };
    const answer = await refused(PATHS[format], bodyWith(format, part(ids)));
    expect(answer).toEqual({ status: 400, message: expect.stringMatching(message) });
  });

  it('more than fits into a body, in every way to name it', async () => {
    const limit = new RegExp(`file_id: .*${MAX_BODY_BYTES} bytes.*server\\.max_body_bytes`);
    const large = await stored(Buffer.concat([PDF, noise(200_000)]), 'large.pdf');
    const tooLarge = await refused('/chat/completions', bodyWith('chat', NAMING.chat(large)));
    expect(tooLarge).toEqual({ status: 413, message: expect.stringMatching(limit) });
    const id = await stored(PDF, 'report.pdf');
    const often = BODIES.chat('up/chat', Array(3).fill(NAMING.chat(id)));
    expect((await refused('/chat/completions', often)).status).toBe(413);
    upstream.answer(chatAnswer({ text: 'ok' }));
    const twice = BODIES.chat('up/chat', Array(2).fill(NAMING.chat(id)));
    expect((await ask('chat', twice)).status).toBe(200);
    expect(upstream.requests[0]?.json.messages[0].content).toEqual([INLINE.PDF?.chat, INLINE.PDF?.chat]);
  });
});

describe('official clients', () => {
  it('openai: uploads a file, and names it in responses and chat completions', async () => {
    upstream.answer(chatAnswer({ text: 'read' }));
    const client = new OpenAI({ baseURL: gateway.url, apiKey: gateway.apiKey, maxRetries: 0 });
    const { id } = await client.files.create({ file: new File([PDF], 'report.pdf'), purpose: 'user_data' });
    const response = await client.responses.create({
      model: 'up/chat',
      input: [{ role: 'user', content: [{ type: 'input_file', file_id: id }] }],
    });
    expect(response.output_text).toBe('read');
    const completion = await client.chat.completions.create({
      model: 'up/chat',
      messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: id } }] }],
    });
    expect(completion.choices[0]?.message.content).toBe('read');
    for (const { json } of upstream.requests) expect(json.messages[0].content).toEqual([INLINE.PDF?.chat]);
  });

  it('anthropic: uploads a file and names it', async () => {
    upstream.answer(messagesAnswer({ text: 'read' }));
    const client = new Anthropic({ baseURL: `${gateway.origin}/api`, apiKey: gateway.apiKey, maxRetries: 0 });
    const { id } = await client.beta.files.upload({ file: new File([PDF], 'report.pdf') });
    const message = await client.beta.messages.create({
      model: 'up/messages',
      max_tokens: 100,
      betas: ['files-api-2025-04-14'],
      messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: id } }] }],
    });
    expect(message.content[0]).toMatchObject({ type: 'text', text: 'read' });
    expect(upstream.requests[0]?.json.messages[0].content).toEqual([INLINE.PDF?.messages]);
    await expect(
      client.beta.messages.create({
        model: 'up/messages',
        max_tokens: 100,
        betas: ['files-api-2025-04-14'],
        messages: [
          { role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: UNKNOWN_FILE } }] },
        ],
      }),
    ).rejects.toBeInstanceOf(Anthropic.NotFoundError);
  });
});
