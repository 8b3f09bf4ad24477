import Type from 'typebox';
import { nullish, open, openOneOf, openUnion } from '../../kit/json/schema.ts';
import { FILE_ID_DESCRIPTION } from '../shared/media/stored-files.ts';
import { cacheControlSchema } from '../shared/requests/gateway-fields.ts';

/** Schemas of the content blocks in requests. Undocumented fields of a block are accepted. */

const id = Type.String({ minLength: 1 });
const text = Type.String();
const position = Type.Integer({ minimum: 0 });
const cached = { cache_control: nullish(cacheControlSchema) };

const documentPlace = { cited_text: text, document_index: position, document_title: nullish(text) };

/** Citations of answers come back as they were: they may have further members. */
const citation = openUnion('type', [
  open({
    type: Type.Literal('char_location'),
    ...documentPlace,
    start_char_index: position,
    end_char_index: position,
  }),
  open({
    type: Type.Literal('page_location'),
    ...documentPlace,
    start_page_number: position,
    end_page_number: position,
  }),
  open({
    type: Type.Literal('content_block_location'),
    ...documentPlace,
    start_block_index: position,
    end_block_index: position,
  }),
  open({
    type: Type.Literal('web_search_result_location'),
    cited_text: text,
    encrypted_index: text,
    title: nullish(text),
    url: text,
  }),
  open({
    type: Type.Literal('search_result_location'),
    cited_text: text,
    source: text,
    title: nullish(text),
    search_result_index: position,
    start_block_index: position,
    end_block_index: position,
  }),
]);

export const textBlockSchema = Type.Object({
  type: Type.Literal('text'),
  text,
  citations: nullish(Type.Array(citation)),
  ...cached,
});

const fileSource = Type.Object({
  type: Type.Literal('file'),
  file_id: Type.String({ minLength: 1, description: FILE_ID_DESCRIPTION }),
});
const urlSource = Type.Object({ type: Type.Literal('url'), url: Type.String({ minLength: 1 }) });

const imageBlock = Type.Object({
  type: Type.Literal('image'),
  source: openUnion('type', [
    Type.Object({
      type: Type.Literal('base64'),
      media_type: openOneOf(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
      data: text,
    }),
    urlSource,
    fileSource,
  ]),
  ...cached,
});

const citationSwitch = nullish(Type.Object({ enabled: nullish(Type.Boolean()) }));

const documentBlock = Type.Object({
  type: Type.Literal('document'),
  source: openUnion('type', [
    Type.Object({
      type: Type.Literal('base64'),
      media_type: openOneOf(['application/pdf']),
      data: text,
    }),
    Type.Object({ type: Type.Literal('text'), media_type: openOneOf(['text/plain']), data: text }),
    Type.Object({
      type: Type.Literal('content'),
      content: Type.Union([text, Type.Array(openUnion('type', [textBlockSchema, imageBlock]))]),
    }),
    urlSource,
    fileSource,
  ]),
  title: nullish(text),
  context: nullish(text),
  citations: citationSwitch,
  ...cached,
});

const searchResultBlock = Type.Object({
  type: Type.Literal('search_result'),
  source: text,
  title: text,
  content: Type.Array(openUnion('type', [textBlockSchema])),
  citations: citationSwitch,
  ...cached,
});

const toolResultPart = openUnion('type', [
  textBlockSchema,
  imageBlock,
  documentBlock,
  searchResultBlock,
  Type.Object({ type: Type.Literal('tool_reference'), tool_name: text, ...cached }),
  open({ type: Type.Literal('browser_state'), tabs: Type.Array(Type.Object({})), ...cached }),
]);

const callFields = { id, name: id, input: nullish(Type.Object({})), ...cached };

/** Documented blocks whose members are not validated: replayed results of tools that upstreams run, and marks. */
const UNCHECKED_BLOCKS = [
  'web_fetch_tool_result',
  'code_execution_tool_result',
  'bash_code_execution_tool_result',
  'text_editor_code_execution_tool_result',
  'tool_search_tool_result',
  'mcp_tool_use',
  'mcp_tool_result',
  'mcp_tool_listing',
  'container_upload',
  'tool_addition',
  'tool_removal',
  'fallback',
] as const;

const KNOWN_BLOCKS = [
  'text',
  'image',
  'document',
  'search_result',
  'tool_use',
  'tool_result',
  'thinking',
  'redacted_thinking',
  'server_tool_use',
  'web_search_tool_result',
  'compaction',
  'advisor_tool_result',
] as const;

/** One block of a message. Of an undocumented type only the type is validated. Blocks that models write are open. */
export const blockSchema = openUnion(
  'type',
  [
    textBlockSchema,
    imageBlock,
    documentBlock,
    searchResultBlock,
    Type.Object({ type: Type.Literal('tool_use'), ...callFields, caller: Type.Optional(Type.Unknown()) }),
    Type.Object({
      type: Type.Literal('tool_result'),
      tool_use_id: id,
      content: nullish(Type.Union([text, Type.Array(toolResultPart)])),
      is_error: nullish(Type.Boolean()),
      ...cached,
    }),
    open({ type: Type.Literal('thinking'), thinking: text, signature: text }),
    open({ type: Type.Literal('redacted_thinking'), data: text }),
    open({ type: Type.Literal('server_tool_use'), ...callFields }),
    open({
      type: Type.Literal('web_search_tool_result'),
      tool_use_id: id,
      content: Type.Union([
        Type.Array(
          openUnion('type', [
            open({
              type: Type.Literal('web_search_result'),
              url: text,
              title: text,
              encrypted_content: text,
              page_age: nullish(text),
            }),
          ]),
        ),
        openUnion('type', [open({ type: Type.Literal('web_search_tool_result_error'), error_code: text })]),
      ]),
      ...cached,
    }),
    open({
      type: Type.Literal('compaction'),
      content: nullish(text),
      ...cached,
    }),
    open({
      type: Type.Literal('advisor_tool_result'),
      tool_use_id: id,
      content: Type.Object({}),
      ...cached,
    }),
  ],
  { documented: UNCHECKED_BLOCKS },
);

const BLOCK_TYPES: ReadonlySet<string> = new Set([...KNOWN_BLOCKS, ...UNCHECKED_BLOCKS]);

/** Answers of an operator's own tools, `<vendor>_shell_tool_result`. */
const OPERATOR_RESULT = /^[\w-]+_(shell|bash)_tool_result$/;

export function isKnownBlock(type: string): boolean {
  return BLOCK_TYPES.has(type) || OPERATOR_RESULT.test(type);
}
