import { describe, expect, it } from 'vitest';
import type { Format } from '../../../ir/items.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { DIALECTS } from '../../dialects.ts';
import { fillPromptTemplate, templateItemCount } from '../presets/prompt-template.ts';
import { type InlineFile, kindOf } from './inline-file.ts';
import { placeFiles, refuseMisplaced, storedFilesIn } from './stored-files.ts';

const ID = 'file_1';
const OFFICE = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

const fileOf = (mediaType: string, content = `data:${mediaType};base64,QUJD`): InlineFile => ({
  filename: 'stored.name',
  mediaType,
  kind: kindOf(mediaType),
  content,
});
const partsOf = (format: Format) => DIALECTS[format].inbound.fileParts;
const pathsIn = (format: Format, body: JsonObject) =>
  storedFilesIn(body, partsOf(format)).map(({ path }) => path);
const placed = (format: Format, body: JsonObject, file: InlineFile) =>
  placeFiles(body, partsOf(format), new Map([[ID, file]]));

/** A body of each format with one part in a message of the user. */
const BODIES: Record<Format, (part: JsonObject) => JsonObject> = {
  responses: (part) => ({ model: 'm', input: [{ role: 'user', content: [part] }] }),
  messages: (part) => ({ model: 'm', messages: [{ role: 'user', content: [part] }] }),
  chat: (part) => ({ model: 'm', messages: [{ role: 'user', content: [part] }] }),
};
const written = (format: Format, part: JsonObject, file: InlineFile) => {
  const { body, report } = placed(format, BODIES[format](part), file);
  const [message] = (body.input ?? body.messages) as any[];
  return { part: message.content[0], report };
};

const inputFile = { type: 'input_file', file_id: ID };
const document = { type: 'document', source: { type: 'file', file_id: ID } };
const chatFile = { type: 'file', file: { file_id: ID } };

describe('where files are named', () => {
  it('finds them in messages, results of tools and what a computer showed', () => {
    const body = {
      input: [
        'no item',
        { role: 'user', content: 'text' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: ID },
            { type: 'input_image', file_id: ID },
          ],
        },
        { type: 'function_call_output', call_id: 'c', output: [inputFile] },
        { type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot', file_id: ID } },
      ],
    };
    expect(pathsIn('responses', body)).toEqual([
      'input[2].content[1].file_id',
      'input[3].output[0].file_id',
      'input[4].output.file_id',
    ]);
    const image = { type: 'image', source: { type: 'file', file_id: ID } };
    const messages = [
      { role: 'user', content: [document, { type: 'tool_result', tool_use_id: 't', content: [image] }] },
      { role: 'user', content: [{ type: 'document', source: { type: 'content', content: [image] } }] },
    ];
    expect(pathsIn('messages', { messages })).toEqual([
      'messages[0].content[0].source.file_id',
      'messages[0].content[1].content[0].source.file_id',
      'messages[1].content[0].source.content[0].source.file_id',
    ]);
    expect(pathsIn('chat', { messages: [{ role: 'tool', tool_call_id: 't', content: [chatFile] }] })).toEqual(
      ['messages[0].content[0].file.file_id'],
    );
  });

  it('passes over ids of other forms, arguments of calls and what a model cited', () => {
    const other = { ...inputFile, file_id: 'file-1' };
    const cited = { type: 'output_text', text: 't', annotations: [{ type: 'file_citation', file_id: ID }] };
    expect(pathsIn('responses', { input: [{ role: 'user', content: [other, cited] }] })).toEqual([]);
    const use = {
      type: 'tool_use',
      id: 't',
      name: 'n',
      input: { type: 'document', source: document.source },
    };
    expect(pathsIn('messages', { messages: [{ role: 'assistant', content: [use] }] })).toEqual([]);
  });

  it.each<[string, Format, JsonObject, string]>([
    [
      'beside content of another source',
      'responses',
      BODIES.responses({ ...inputFile, file_url: 'https://a.example/b' }),
      'input[0].content[0].file_id: cannot be combined with file_url',
    ],
    [
      'beside data',
      'chat',
      BODIES.chat({ type: 'file', file: { file_id: ID, file_data: 'QUJD' } }),
      'messages[0].content[0].file.file_id: cannot be combined with file.file_data',
    ],
    [
      'for a container',
      'messages',
      BODIES.messages({ type: 'container_upload', file_id: ID }),
      'messages[0].content[0].file_id: names a stored file: those can stand only in messages',
    ],
    [
      'in a part of an unknown type',
      'chat',
      BODIES.chat({ type: 'input_file', file_id: ID }),
      'messages[0].content[0].file_id: names a stored file',
    ],
    [
      'in a block of an unknown type',
      'messages',
      BODIES.messages({ type: 'film', source: { type: 'file', file_id: ID } }),
      'messages[0].content[0].source.file_id: names a stored file',
    ],
    [
      'for an interpreter',
      'responses',
      { tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: ['file-1', ID] } }] },
      'tools[0].container.file_ids: names a stored file',
    ],
    [
      'as a mask',
      'responses',
      { tools: [{ type: 'image_generation', input_image_mask: { file_id: ID } }] },
      'tools[0].input_image_mask.file_id: names a stored file',
    ],
    [
      'in tools of an item',
      'responses',
      {
        input: [
          {
            type: 'additional_tools',
            tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: [ID] } }],
          },
        ],
      },
      'input[0].tools[0].container.file_ids: names a stored file',
    ],
  ])('refuses them %s', (_, format, body, message) => {
    expect(() => pathsIn(format, body)).toThrow(message);
  });

  it.each<[Format, JsonObject, string]>([
    ['responses', { type: 'input_image', file_id: ID }, 'application/pdf: this part takes images'],
    ['messages', document, 'audio/mpeg: this part takes images, documents, text'],
  ])('refuses in %s what the part cannot hold', (format, part, message) => {
    const [naming] = storedFilesIn(BODIES[format](part), partsOf(format));
    const mediaType = message.split(':')[0] ?? '';
    expect(() => naming && refuseMisplaced(naming, mediaType)).toThrow(`names a file of type ${message}`);
    expect(() => naming && refuseMisplaced(naming, 'image/png')).not.toThrow();
  });
});

describe('what is written', () => {
  it.each<[string, Format, JsonObject, InlineFile, JsonObject]>([
    [
      'an image',
      'responses',
      { type: 'input_image', file_id: ID, image_url: null, detail: 'low' },
      fileOf('image/png'),
      { type: 'input_image', detail: 'low', image_url: 'data:image/png;base64,QUJD' },
    ],
    [
      'a PDF',
      'responses',
      { ...inputFile, cache_control: { type: 'ephemeral' } },
      fileOf('application/pdf'),
      {
        type: 'input_file',
        filename: 'stored.name',
        file_data: 'data:application/pdf;base64,QUJD',
        cache_control: { type: 'ephemeral' },
      },
    ],
    [
      'an office document under the name that the caller gives',
      'responses',
      { ...inputFile, filename: 'own.docx' },
      fileOf(OFFICE),
      { type: 'input_file', filename: 'own.docx', file_data: `data:${OFFICE};base64,QUJD` },
    ],
    [
      'an image',
      'messages',
      { type: 'image', source: document.source, cache_control: { type: 'ephemeral' } },
      fileOf('image/webp'),
      {
        type: 'image',
        source: { type: 'base64', media_type: 'image/webp', data: 'QUJD' },
        cache_control: { type: 'ephemeral' },
      },
    ],
    [
      'a PDF',
      'messages',
      { ...document, citations: { enabled: true } },
      fileOf('application/pdf'),
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'QUJD' },
        title: 'stored.name',
        citations: { enabled: true },
      },
    ],
    [
      'text',
      'messages',
      { ...document, title: 'Own', context: 'why' },
      fileOf('text/csv', 'a,b\n'),
      {
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data: 'a,b\n' },
        title: 'Own',
        context: 'why',
      },
    ],
    [
      'a PDF',
      'chat',
      chatFile,
      fileOf('application/pdf'),
      { type: 'file', file: { filename: 'stored.name', file_data: 'data:application/pdf;base64,QUJD' } },
    ],
  ])('keeps the part for %s in %s', (_, format, part, file, expected) => {
    const result = written(format, part, file);
    expect(result.part).toEqual(expected);
    expect(result.report).toEqual([]);
  });

  it.each<[string, Format, JsonObject, InlineFile, JsonObject, string[]]>([
    [
      'an image',
      'responses',
      { ...inputFile, filename: 'own.png', cache_control: { type: 'ephemeral' } },
      fileOf('image/png'),
      {
        type: 'input_image',
        image_url: 'data:image/png;base64,QUJD',
        detail: 'auto',
        cache_control: { type: 'ephemeral' },
      },
      ['filename'],
    ],
    [
      'text',
      'responses',
      { ...inputFile, filename: 'own.csv' },
      fileOf('text/csv', 'a,b\n'),
      { type: 'input_text', text: 'own.csv\na,b\n' },
      [],
    ],
    [
      'sound',
      'responses',
      { ...inputFile, cache_control: { type: 'ephemeral' } },
      fileOf('audio/mpeg'),
      { type: 'input_audio', input_audio: { data: 'QUJD', format: 'mp3' } },
      ['cache_control'],
    ],
    [
      'an image',
      'messages',
      { ...document, title: 'Own', context: 'why', cache_control: { type: 'ephemeral' } },
      fileOf('image/png'),
      {
        type: 'image',
        source: { type: 'base64', media_type: 'image/png', data: 'QUJD' },
        cache_control: { type: 'ephemeral' },
      },
      ['title', 'context'],
    ],
    [
      'an image',
      'chat',
      { type: 'file', file: { file_id: ID, filename: 'own.gif' }, extra: 1 },
      fileOf('image/gif'),
      { type: 'image_url', image_url: { url: 'data:image/gif;base64,QUJD' } },
      ['extra', 'file.filename'],
    ],
    [
      'text',
      'chat',
      { ...chatFile, cache_control: { type: 'ephemeral' } },
      fileOf('application/json', '{}'),
      { type: 'text', text: 'stored.name\n{}', cache_control: { type: 'ephemeral' } },
      [],
    ],
    [
      'sound',
      'chat',
      chatFile,
      fileOf('audio/flac'),
      { type: 'input_audio', input_audio: { data: 'QUJD', format: 'flac' } },
      [],
    ],
  ])('writes another part for %s in %s, and says so', (_, format, part, file, expected, lost) => {
    const place = format === 'responses' ? 'input[0].content[0]' : 'messages[0].content[0]';
    const result = written(format, part, file);
    expect(result.part).toEqual(expected);
    expect(result.report).toEqual([
      { field: place, action: 'coerced', detail: `the file is sent as ${expected.type}` },
      ...lost.map((member) => ({
        field: `${place}.${member}`,
        action: 'dropped',
        detail: `the file is sent as ${expected.type}, which has no such field`,
      })),
    ]);
  });

  it('leaves everything else the very same, and the body of the caller as it was', () => {
    const other = { role: 'user', content: [{ type: 'input_text', text: 'Hi' }] };
    const body = { model: 'm', input: [other, { role: 'user', content: [inputFile] }], tools: [] };
    const before = structuredClone(body);
    const { body: filled } = placed('responses', body, fileOf('application/pdf'));
    expect(body).toEqual(before);
    expect((filled.input as unknown[])[0]).toBe(other);
    const nothing = { model: 'm', input: [other] };
    expect(placed('responses', nothing, fileOf('application/pdf')).body).toBe(nothing);
  });

  it('counts places as the caller does, where a template put an item first', () => {
    const given = {
      input: [{ role: 'user', content: [inputFile] }],
      prompt: { id: 'p', variables: { doc: inputFile } },
    };
    const body = fillPromptTemplate(given, { p: { input: 'Read {{doc}}' } });
    expect(pathsIn('responses', body)).toEqual(['prompt.content[1].file_id', 'input[0].content[0].file_id']);
    const { body: filled } = placed('responses', body, fileOf('application/pdf'));
    expect(templateItemCount(filled)).toBe(1);
    expect(filled.prompt).toBe(given.prompt);
  });
});
