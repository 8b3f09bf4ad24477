import type { Tier } from '../catalog/service-tier.ts';
import type { Seal } from '../ir/events.ts';
import type { FormatFacts } from '../ir/format-facts.ts';
import type { JsonObject } from '../kit/json/json.ts';
import type { MediaMembers } from './shared/media/check-media.ts';
import type { PresetForm } from './shared/presets/preset-form.ts';
import type { SealsTaken } from './shared/reasoning/seals-taken.ts';

/** Facts of a dialect besides its functions, as far as calls of any dialect ask for them. */
export interface DialectFacts {
  /** Seals that its upstreams get back; absent = none. */
  readonly seals?: SealsTaken;
  /** How betas that a caller requests are sent to upstreams; absent = there are none. */
  readonly betaCarrier?: 'header' | 'body';
  /** Upstreams check calls as the caller asks in `safeguards`, and say so; absent = they know nothing of it. */
  readonly takesSafeguards?: true;
  /** True if it cannot narrow a list of tools, so that only the allowed ones are sent. */
  readonly sendsAllowedToolsOnly?: true;
  /** Speeds that are sent instead of a service tier, by tier; absent = the service tier is sent. */
  readonly speeds?: Readonly<Partial<Record<Tier, 'fast'>>>;
}

export interface ConversationFacts extends DialectFacts {
  readonly seals: SealsTaken;
  /** True if upstreams add the definitions of their own tools to the prompt, and bill them. */
  readonly addsToolDefinitions?: boolean;
  /** True if upstreams may end an answer in the middle of a turn in which their own tools run, to be continued. */
  readonly pausesTurns?: boolean;
  /** True if the dialect itself has no hosted tools: providers run those of `Quirks.hostedTools`. */
  readonly hasNoHostedTools?: boolean;
  /** True if models count an image by its tiles, unless their name is known to mean otherwise. */
  readonly countsImageTiles?: boolean;
}

export interface FormatDialectFacts extends DialectFacts {
  /** Carried by each request of the format. */
  readonly request: FormatFacts;
  readonly preset: PresetForm;
  /** Kind of its requests in records; absent = completions. */
  readonly api?: 'embeddings' | 'decisions';
  /** True if bodies may name a prompt template, which is filled in before parsing. */
  readonly hasPromptTemplates?: boolean;
  /** The input of a body, as it is stored with the record of a generation. */
  recordedInput(body: JsonObject): JsonObject;
}

export interface ConversationFormatFacts extends ConversationFacts, FormatDialectFacts {
  readonly seals: SealsTaken;
  readonly request: Required<FormatFacts>;
  readonly media: MediaMembers;
  /** The smallest valid body, for checks of presets. */
  readonly minimalRequest: JsonObject;
  /** True if thoughts come as summaries when the request asks for them. */
  readonly summarizesThoughts?: boolean;
  /** A seal as upstreams of the format mint them, for the simulator. */
  simulatedSeal(token: string): Seal;
}
