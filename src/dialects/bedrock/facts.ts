import type { ConversationFacts } from '../dialect-facts.ts';
import { isFromAnthropic } from '../shared/reasoning/seals-taken.ts';

/** Reasoning format of seals that only this dialect's upstreams can read. */
export const BEDROCK_FORMAT = 'amazon-bedrock-v1';

export const facts: ConversationFacts = {
  seals: { ofThoughts: (seal) => isFromAnthropic(seal) || seal.format === BEDROCK_FORMAT },
  betaCarrier: 'body',
  sendsAllowedToolsOnly: true,
};
