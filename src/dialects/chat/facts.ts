import type { Json, JsonObject } from '../../kit/json/json.ts';
import { compact, objectAt, objectsAt, withoutNulls } from '../../kit/json/members.ts';
import type { ConversationFormatFacts } from '../dialect-facts.ts';
import { both } from '../shared/media/check-media.ts';
import { putAs } from '../shared/presets/preset-form.ts';
import { presetMessage } from '../shared/presets/preset-message.ts';
import { IN_REASONING } from '../shared/reasoning/reasoning-object.ts';
import { isFromChat } from '../shared/reasoning/seals-taken.ts';
import { listOf } from '../shared/requests/recorded-input.ts';
import { DOCUMENTED_FIELDS, LIMIT_FIELDS } from './wire.ts';

export const facts: ConversationFormatFacts = {
  seals: { ofThoughts: isFromChat, ofCalls: isFromChat },
  hasNoHostedTools: true,
  request: {
    fieldNames: {
      requestedOutputTokens: 'max_tokens',
      outputFormat: 'response_format',
      verbosity: 'verbosity',
      items: 'messages',
    },
    conversation: {
      limitFields: LIMIT_FIELDS,
      namesSchemas: true,
      schemaPath: '.json_schema',
      allowedToolsPath: '.allowed_tools.tools',
      fileStore: 'openai',
      namesParsedFiles: true,
      searchOptions: { field: 'web_search_options', dialect: 'chat', tool: searchTool },
      reasoning: {
        ...IN_REASONING,
        fields: ['reasoning', 'reasoning_effort'],
        shortEffortField: 'reasoning_effort',
      },
      seals: {
        memberOf: () => undefined,
        ofCall: (path) => `${path.replace(/\.tool_calls\[\d+\]$/, '')}.reasoning_details`,
        losesOrder: true,
      },
      paths: {
        inPart: (wrapper, member) => `${wrapper}.${member}`,
        filename: 'file.filename',
        callInput: (path) => `${path}.${path.endsWith('function_call') ? 'arguments' : 'function.arguments'}`,
        inTool: ({ type }, member) => `${type}.${member}`,
      },
    },
  },
  media: {
    parts: {
      image: both('image_url.url'),
      file: both('file.file_data'),
      audio: both('input_audio.data'),
      video: both('video_url.url'),
    },
    madeImage: both('image_url.url'),
  },
  preset: {
    format: 'chat',
    fields: DOCUMENTED_FIELDS,
    put: {
      systemPrompt: putSystemMessage,
      outputLimit: putAs('max_completion_tokens', 'max_tokens'),
      models: putAs('models'),
      stop: putAs('stop'),
      reasoning: putAs('reasoning', 'reasoning_effort'),
    },
    tools: {
      writeFunction: (tool) => ({ type: 'function', function: compact({ ...tool }) }),
      writeChoiceMode: (mode) => mode,
      writeNamedChoice: (name) => ({ type: 'function', function: { name } }),
    },
  },
  minimalRequest: { messages: [{ role: 'user', content: 'Hello' }] },
  recordedInput: ({ messages }) => ({ messages: listOf(messages) }),
  simulatedSeal: (token) => ({ signature: token, format: 'anthropic-claude-v1', givenBy: 'chat' }),
};

/** The options nest the place of the user one level deeper than tools do. */
function searchTool(options: JsonObject): JsonObject & { type: string } {
  const { user_location: _, ...rest } = withoutNulls(options);
  const tool = { ...rest, type: 'web_search' };
  const location = objectAt(options, 'user_location');
  if (location === undefined) return tool;
  const { approximate: __, ...more } = location;
  const place = { type: 'approximate', ...more, ...objectAt(location, 'approximate') };
  return { ...tool, user_location: place };
}

/** The system prompt is one of the messages. */
function putSystemMessage(value: Json, body: JsonObject): JsonObject {
  const messages = objectsAt(body, 'messages');
  if (messages.some(({ role }) => role === 'system' || role === 'developer')) return {};
  return { messages: [presetMessage(String(value)), ...messages] };
}
