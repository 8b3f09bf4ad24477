import { bedrockDouble } from './bedrock-double.ts';
import { chatDouble } from './chat-double.ts';
import { geminiDouble } from './gemini-double.ts';
import { messagesDouble } from './messages-double.ts';
import { responsesDouble } from './responses-double.ts';
import type { UpstreamDouble } from './upstream-double.ts';

/** One double per dialect that upstreams speak. */
export const DOUBLES: readonly UpstreamDouble[] = [
  chatDouble,
  responsesDouble,
  messagesDouble,
  geminiDouble,
  bedrockDouble,
];
