import type { FormatDialectFacts } from '../dialect-facts.ts';
import { putAs } from '../shared/presets/preset-form.ts';
import { IN_REASONING } from '../shared/reasoning/reasoning-object.ts';
import { DOCUMENTED_FIELDS } from './wire.ts';

/** Facts of the decisions format. The gateway makes its conversations, so callers write none of their settings. */
export const facts: FormatDialectFacts = {
  request: {
    fieldNames: { items: 'input', outputFormat: 'questions' },
    conversation: {
      limitFields: ['max_output_tokens'],
      namesSchemas: false,
      schemaPath: '',
      allowedToolsPath: '',
      fileStore: 'openai',
      reasoning: IN_REASONING,
      seals: { memberOf: () => undefined, ofCall: (path) => path },
      paths: {
        inPart: (_wrapper, member) => member,
        filename: 'filename',
        callInput: (path) => path,
        inTool: (_tool, member) => member,
      },
    },
  },
  preset: { format: 'decisions', fields: DOCUMENTED_FIELDS, put: { models: putAs('models') } },
  api: 'decisions',
  recordedInput: ({ state, input, questions }) => ({
    input: state ?? input ?? null,
    questions: questions ?? null,
  }),
};
