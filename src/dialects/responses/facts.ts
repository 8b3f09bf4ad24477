import type { Json } from '../../kit/json/json.ts';
import { compact } from '../../kit/json/members.ts';
import type { ConversationFormatFacts } from '../dialect-facts.ts';
import { both } from '../shared/media/check-media.ts';
import { putAs } from '../shared/presets/preset-form.ts';
import { areOfOneFamily } from '../shared/reasoning/custody.ts';
import { IN_REASONING } from '../shared/reasoning/reasoning-object.ts';
import { listOf, systemMessage } from '../shared/requests/recorded-input.ts';
import { DOCUMENTED_FIELDS, OWN_REASONING_FORMAT } from './wire.ts';

export const facts: ConversationFormatFacts = {
  seals: {
    ofThoughts: ({ encrypted, format }, quirks) =>
      encrypted !== undefined && areOfOneFamily(format, quirks?.reasoningFormat ?? OWN_REASONING_FORMAT),
  },
  request: {
    fieldNames: {},
    conversation: {
      limitFields: ['max_output_tokens'],
      asksLogprobsInInclude: true,
      namesSchemas: true,
      showsServerCalls: true,
      hasMcpItems: true,
      schemaPath: '',
      allowedToolsPath: '.tools',
      fileStore: 'openai',
      reasoning: IN_REASONING,
      seals: {
        memberOf: ({ signature }) => (signature === undefined ? 'encrypted_content' : 'signature'),
        ofCall: (path) => `${path}.signature`,
        // The format has no field for the minter of a call's seal. Seals of any other upstream are wrapped.
        callSealFormat: 'google-gemini-v1',
      },
      paths: {
        inPart: (_wrapper, member) => member,
        filename: 'filename',
        callInput: (path) => `${path}.arguments`,
        inTool: (_tool, member) => member,
      },
    },
  },
  media: {
    parts: {
      image: both('image_url'),
      file: { url: 'file_url', base64: 'file_data', dataUrl: 'file_data' },
      audio: both('input_audio.data'),
      video: both('video_url'),
    },
    madeImage: both('result'),
  },
  preset: {
    format: 'responses',
    fields: DOCUMENTED_FIELDS,
    put: {
      systemPrompt: putAs('instructions'),
      outputLimit: putAs('max_output_tokens'),
      models: putAs('models'),
      reasoning: putAs('reasoning'),
    },
    tools: {
      writeFunction: (tool) => compact({ type: 'function', ...tool }),
      writeChoiceMode: (mode) => mode,
      writeNamedChoice: (name) => ({ type: 'function', name }),
    },
  },
  hasPromptTemplates: true,
  minimalRequest: { input: 'Hello' },
  recordedInput: ({ input, instructions }) =>
    typeof input === 'string' && (instructions ?? null) === null
      ? { prompt: input }
      : { messages: [...systemMessage(instructions), ...inputMessages(input)] },
  summarizesThoughts: true,
  simulatedSeal: (token) => ({ encrypted: token, format: 'openai-responses-v1' }),
};

function inputMessages(input: Json | undefined): Json[] {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : listOf(input);
}
