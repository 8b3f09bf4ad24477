import type { FormatDialectFacts } from '../dialect-facts.ts';
import { putAs } from '../shared/presets/preset-form.ts';
import { DOCUMENTED_FIELDS } from './wire.ts';

/** Facts of the embeddings format. It has no conversations. */
export const facts: FormatDialectFacts = {
  request: { fieldNames: { items: 'input' } },
  preset: { format: 'embeddings', fields: DOCUMENTED_FIELDS, put: { models: putAs('models') } },
  api: 'embeddings',
  recordedInput: ({ input }) => ({ input: input ?? null }),
};
