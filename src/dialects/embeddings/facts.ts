import type { FormatDialectFacts } from '../dialect.ts';
import { EMBEDDING_FACTS } from '../shared/embeddings/embedding-upstream.ts';
import { both } from '../shared/media/check-media.ts';
import { putAs } from '../shared/presets/preset-form.ts';
import { IN_REASONING } from '../shared/reasoning/reasoning-object.ts';
import { DOCUMENTED_FIELDS } from './wire.ts';

const NONE = both('');

/** No field for a preset's member. */
const nowhere = () => ({});

/** Facts of the embeddings format. It has no conversation, tools or thoughts: members for them are idle. */
export const facts: FormatDialectFacts = {
  ...EMBEDDING_FACTS,
  request: {
    fieldNames: { items: 'input' },
    limitFields: ['max_tokens'],
    namesSchemas: false,
    schemaPath: '',
    allowedToolsPath: '',
    fileStore: 'openai',
    reasoning: IN_REASONING,
    seals: { memberOf: () => undefined, ofCall: (path) => path },
    paths: {
      inPart: (wrapper, member) => `${wrapper}.${member}`,
      filename: 'filename',
      callInput: (path) => path,
      inTool: (_, member) => member,
    },
  },
  media: { parts: { image: NONE, file: NONE, audio: NONE, video: NONE }, madeImage: NONE },
  preset: {
    format: 'embeddings',
    fields: DOCUMENTED_FIELDS,
    put: {
      systemPrompt: nowhere,
      outputLimit: nowhere,
      models: putAs('models'),
      reasoning: nowhere,
    },
    writeFunction: nowhere,
    writeChoiceMode: (mode) => mode,
    writeNamedChoice: nowhere,
  },
  minimalRequest: { input: 'Hello' },
  recordedInput: ({ input }) => ({ input: input ?? null }),
  simulatedSeal: (token) => ({ signature: token }),
};
