import type { DialectFacts } from '../dialect.ts';
import { isFromGoogle } from '../shared/reasoning/seals-taken.ts';

/** Facts of the gemini dialect. */
export const facts: DialectFacts = {
  seals: { ofThoughts: isFromGoogle, ofCalls: isFromGoogle },
  countsImageTiles: true,
  embeddings: 'gemini-embeddings',
};
