import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../ir/errors.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { chat } from '../../chat/index.ts';
import { messages } from '../../messages/index.ts';
import { responses } from '../../responses/index.ts';

const chatImage = (url: string) => () =>
  chat.inbound.parseRequest(
    {
      model: 'a/b',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image_url', image_url: { url } },
          ],
        },
      ],
    },
    { vendor: 'acme' },
  );

const responsesImage = (image_url: string) => () =>
  responses.inbound.parseRequest(
    { model: 'a/b', input: [{ role: 'user', content: [{ type: 'input_image', image_url }] }] },
    { vendor: 'acme' },
  );

const messagesImage = (source: JsonObject) => () =>
  messages.inbound.parseRequest(
    { model: 'a/b', max_tokens: 9, messages: [{ role: 'user', content: [{ type: 'image', source }] }] },
    { vendor: 'acme' },
  );

/** Status and message of the error, or undefined. */
function told(parse: () => unknown): { status: number; message: string } | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { status: error.status, message: error.message };
  }
}

const LARGE = 'iVBORw0KGgo='.slice(0, 8).repeat(100_000);

describe('images that no upstream can read', () => {
  it.each([
    ['data:image/png;base64,', 'holds no image'],
    ['data:image/png;base64,%%%%', 'is no valid base64'],
    ['data:image/png;base64,garbage', 'is no valid base64'],
    ['data:image/png;base64,AA==AA==', 'is no valid base64'],
    [`data:image/png;base64,<html>${LARGE}`, 'is no valid base64'],
    [`data:image/png;base64,${LARGE}<html>`, 'is no valid base64'],
    ['data:image/png,notb64', 'a data URL must hold base64: data:image/png;base64,...'],
    ['data:;base64,iVBORw0KGgo=', 'must have the media type of its kind: data:image/png;base64,...'],
    ['data:text/plain;base64,QUJD', 'must have the media type of its kind: data:image/png;base64,...'],
    ['DATA:IMAGE/PNG;BASE64,garbage', 'is no valid base64'],
    [' https://a.example/cat.png', 'must be an address that begins with https:// or a data URL in base64'],
    ['ftp://a.example/cat.png', 'must be an address that begins with https:// or a data URL in base64'],
    ['notaurl', 'must be an address that begins with https:// or a data URL in base64'],
    ['https://', 'must be an address that begins with https:// or a data URL in base64'],
  ])('are refused with their place: %.40s', (url, reason) => {
    expect(told(chatImage(url))).toEqual({
      status: 400,
      message: `messages[0].content[1].image_url.url: ${reason}`,
    });
    expect(told(responsesImage(url))).toEqual({
      status: 400,
      message: `input[0].content[0].image_url: ${reason}`,
    });
  });

  it.each([
    [{ type: 'base64', media_type: 'image/png', data: '' }, 'data: holds no image'],
    [{ type: 'base64', media_type: 'image/png', data: 'no, not this' }, 'data: is no valid base64'],
    [
      { type: 'url', url: 'ftp://a.example/' },
      'url: must be an address that begins with https:// or a data URL in base64',
    ],
    [
      { type: 'url', url: 'DATA:IMAGE/PNG;BASE64,iVBORw0KGgo=' },
      'url: must be an address: bytes go into a source of type base64',
    ],
  ])('are refused in the messages format: %o', (source, reason) => {
    expect(told(messagesImage(source))).toEqual({
      status: 400,
      message: `messages[0].content[0].source.${reason}`,
    });
  });

  it('are refused inside the results of tools and among what a model made', () => {
    const bad = 'data:image/png;base64,!';
    const result = {
      role: 'tool',
      tool_call_id: 'a',
      content: [{ type: 'image_url', image_url: { url: bad } }],
    };
    const made = {
      role: 'assistant',
      content: 'Here',
      images: [{ type: 'image_url', image_url: { url: bad } }],
    };
    const issues = (...list: JsonObject[]) =>
      told(() =>
        chat.inbound.parseRequest(
          { model: 'a/b', messages: [{ role: 'user', content: 'Hi' }, ...list] },
          { vendor: 'acme' },
        ),
      )?.message;
    expect(issues(result)).toBe('messages[1].content[0].image_url.url: is no valid base64');
    expect(issues(made)).toBe('messages[1].images[0].image_url.url: is no valid base64');
  });
});

describe('images that some upstream can read', () => {
  it.each([
    'https://a.example/cat.png?size=1',
    'HTTP://a.example',
    'gs://bucket/cat.png',
    's3://bucket/cat.png',
    'data:image/png;base64,iVBORw0KGgo=',
    'DATA:IMAGE/PNG;BASE64,iVBORw0KGgo=',
    'data:image/png;base64,iVBO\r\nRw0KGg\r\no=',
    `data:image/png;base64,${LARGE}`,
  ])('pass: %.40s', (url) => {
    expect(told(chatImage(url))).toBeUndefined();
    expect(told(responsesImage(url))).toBeUndefined();
  });
});

/** The message about one part, without the path of the part. */
function toldOf(format: 'chat' | 'responses' | 'messages', part: JsonObject): string | undefined {
  const conversation = [{ role: 'user', content: [part] }];
  const parse = {
    chat: () => chat.inbound.parseRequest({ model: 'a/b', messages: conversation }, { vendor: 'acme' }),
    responses: () =>
      responses.inbound.parseRequest({ model: 'a/b', input: conversation }, { vendor: 'acme' }),
    messages: () =>
      messages.inbound.parseRequest(
        { model: 'a/b', max_tokens: 9, messages: conversation },
        { vendor: 'acme' },
      ),
  };
  return told(parse[format])?.message.replace(/^(?:messages|input)\[0\]\.content\[0\]\./, '');
}

const NO_ADDRESS = 'must be an address that begins with https:// or a data URL in base64';

describe('files, audio and video that no upstream can read', () => {
  it.each([
    ['data:application/pdf;base64,%%%', 'is no valid base64'],
    ['data:application/pdf;base64,', 'holds no file'],
    ['data:;base64,QUJD', 'must have the media type of its kind: data:application/pdf;base64,...'],
    ['data:text/plain,hello', 'a data URL must hold base64: data:application/pdf;base64,...'],
    ['not base64', 'is no valid base64'],
  ])('are refused as file data: %s', (data, reason) => {
    expect(toldOf('chat', { type: 'file', file: { filename: 'a.pdf', file_data: data } })).toBe(
      `file.file_data: ${reason}`,
    );
    expect(toldOf('responses', { type: 'input_file', filename: 'a.pdf', file_data: data })).toBe(
      `file_data: ${reason}`,
    );
  });

  it.each(['file:///etc/hosts', 'ftp://a.example/a.pdf', ' https://a.example/a.pdf'])(
    'are refused as an address of a file: %s',
    (address) => {
      expect(toldOf('responses', { type: 'input_file', file_url: address })).toBe(`file_url: ${NO_ADDRESS}`);
      expect(toldOf('messages', { type: 'document', source: { type: 'url', url: address } })).toBe(
        `source.url: ${NO_ADDRESS}`,
      );
    },
  );

  it('are refused as an address in the file data of the chat format', () => {
    expect(toldOf('chat', { type: 'file', file: { file_data: 'file:///etc/hosts' } })).toBe(
      `file.file_data: ${NO_ADDRESS}`,
    );
  });

  it('are refused as documents, and inside documents that are made of blocks', () => {
    const pdf = { type: 'base64', media_type: 'application/pdf', data: '%PDF-1.4' };
    expect(toldOf('messages', { type: 'document', source: pdf })).toBe('source.data: is no valid base64');
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: '' } };
    const content = [{ type: 'text', text: 'Look' }, image];
    expect(toldOf('messages', { type: 'document', source: { type: 'content', content } })).toBe(
      'source.content[1].source.data: holds no image',
    );
  });

  it('are refused as audio and as video', () => {
    const audio = { type: 'input_audio', input_audio: { data: 'garbage', format: 'wav' } };
    for (const format of ['chat', 'responses'] as const) {
      expect(toldOf(format, audio)).toBe('input_audio.data: is no valid base64');
    }
    for (const [url, reason] of [
      ['data:video/mp4;base64,garbage', 'is no valid base64'],
      ['data:image/png;base64,QUJD', 'must have the media type of its kind: data:video/mp4;base64,...'],
      ['file:///a.mp4', NO_ADDRESS],
    ] as const) {
      expect(toldOf('chat', { type: 'video_url', video_url: { url } })).toBe(`video_url.url: ${reason}`);
      expect(toldOf('responses', { type: 'input_video', video_url: url })).toBe(`video_url: ${reason}`);
    }
  });
});

describe('files, audio and video that some upstream can read', () => {
  it.each([
    ['chat', { type: 'file', file: { filename: 'a.pdf', file_data: 'QUJD' } }],
    ['chat', { type: 'file', file: { file_data: 'https://a.example/a.pdf' } }],
    ['chat', { type: 'file', file: { file_data: 'DATA:APPLICATION/PDF;BASE64,QUJD' } }],
    ['chat', { type: 'video_url', video_url: { url: 'data:video/mp4;base64,QUJD' } }],
    ['responses', { type: 'input_file', filename: 'a.pdf', file_data: 'DATA:APPLICATION/PDF;BASE64,QUJD' }],
    ['responses', { type: 'input_file', file_url: 'https://a.example/a.pdf' }],
    ['responses', { type: 'input_audio', input_audio: { data: 'QUJD', format: 'mp3' } }],
    ['messages', { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'any text' } }],
    ['messages', { type: 'document', source: { type: 'content', content: 'any text' } }],
  ] as const)('pass: %s %o', (format, part) => {
    expect(toldOf(format, part)).toBeUndefined();
  });
});

describe('a data URL in capitals', () => {
  it('is read as any other', () => {
    const url = 'DATA:IMAGE/PNG;BASE64,iVBORw0KGgo=';
    const source = { kind: 'base64', mediaType: 'image/png', data: 'iVBORw0KGgo=' };
    for (const parse of [chatImage(url), responsesImage(url)]) {
      const { items } = parse();
      expect(items[0]).toMatchObject({ content: expect.arrayContaining([{ type: 'image', source }]) });
    }
  });
});
