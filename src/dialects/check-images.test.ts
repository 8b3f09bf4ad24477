import { describe, expect, it } from 'vitest';
import { GatewayError } from '../ir/errors.ts';
import type { JsonObject } from '../kit/json.ts';
import { chatInbound } from './chat/chat.ts';
import { messagesInbound } from './messages/messages.ts';
import { responsesInbound } from './responses/responses.ts';

const chat = (url: string) => () =>
  chatInbound.parseRequest(
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

const responses = (image_url: string) => () =>
  responsesInbound.parseRequest(
    { model: 'a/b', input: [{ role: 'user', content: [{ type: 'input_image', image_url }] }] },
    { vendor: 'acme' },
  );

const messages = (source: JsonObject) => () =>
  messagesInbound.parseRequest(
    { model: 'a/b', max_tokens: 9, messages: [{ role: 'user', content: [{ type: 'image', source }] }] },
    { vendor: 'acme' },
  );

/** What a caller is told, or nothing. */
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
    ['ftp://a.example/cat.png', 'must be an address that begins with https:// or a data URL in base64'],
    ['notaurl', 'must be an address that begins with https:// or a data URL in base64'],
    ['https://', 'must be an address that begins with https:// or a data URL in base64'],
  ])('are refused with their place: %.40s', (url, reason) => {
    expect(told(chat(url))).toEqual({
      status: 400,
      message: `messages[0].content[1].image_url.url: ${reason}`,
    });
    expect(told(responses(url))).toEqual({
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
  ])('are refused in the messages format: %o', (source, reason) => {
    expect(told(messages(source))).toEqual({
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
        chatInbound.parseRequest(
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
    'data:image/png;base64,iVBO\r\nRw0KGg\r\no=',
    `data:image/png;base64,${LARGE}`,
  ])('pass: %.40s', (url) => {
    expect(told(chat(url))).toBeUndefined();
    expect(told(responses(url))).toBeUndefined();
  });
});
