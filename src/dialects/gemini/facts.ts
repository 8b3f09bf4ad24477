import type { ConversationFacts } from '../dialect-facts.ts';
import { isFromGoogle } from '../shared/reasoning/seals-taken.ts';

export const facts: ConversationFacts = {
  seals: { ofThoughts: isFromGoogle, ofCalls: isFromGoogle },
  countsImageTiles: true,
};
