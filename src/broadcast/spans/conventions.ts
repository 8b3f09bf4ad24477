import type { AnyValue, KeyValue } from '../otlp/messages.ts';

/**
 * The semantic conventions that attributes follow. Later versions of the document have moved those of generative AI to
 * a document of their own, without changing these names.
 */
export const CONVENTIONS = {
  version: '1.41.0',
  schemaUrl: 'https://opentelemetry.io/schemas/1.41.0',
} as const;

/** Types of attributes, as the conventions name them. `any`: text here, because few receivers take structures. */
export type AttributeType = 'string' | 'int' | 'double' | 'boolean' | 'string[]' | 'any';

export interface AttributeRow {
  readonly name: string;
  readonly type: AttributeType;
  /** Where the conventions have no name: who reads this one. */
  readonly beyond?: string;
}

const GATEWAY = 'this gateway';

/** All attributes with fixed names that spans and resources have. */
export const ATTRIBUTES = {
  serviceName: { name: 'service.name', type: 'string' },
  serviceVersion: { name: 'service.version', type: 'string' },
  operation: { name: 'gen_ai.operation.name', type: 'string' },
  provider: { name: 'gen_ai.provider.name', type: 'string' },
  requestModel: { name: 'gen_ai.request.model', type: 'string' },
  isStreamed: { name: 'gen_ai.request.stream', type: 'boolean' },
  responseId: { name: 'gen_ai.response.id', type: 'string' },
  responseModel: { name: 'gen_ai.response.model', type: 'string' },
  finishReasons: { name: 'gen_ai.response.finish_reasons', type: 'string[]' },
  timeToFirstChunk: { name: 'gen_ai.response.time_to_first_chunk', type: 'double' },
  inputTokens: { name: 'gen_ai.usage.input_tokens', type: 'int' },
  cachedTokens: { name: 'gen_ai.usage.cache_read.input_tokens', type: 'int' },
  outputTokens: { name: 'gen_ai.usage.output_tokens', type: 'int' },
  reasoningTokens: { name: 'gen_ai.usage.reasoning.output_tokens', type: 'int' },
  conversationId: { name: 'gen_ai.conversation.id', type: 'string' },
  inputMessages: { name: 'gen_ai.input.messages', type: 'any' },
  outputMessages: { name: 'gen_ai.output.messages', type: 'any' },
  toolName: { name: 'gen_ai.tool.name', type: 'string' },
  toolType: { name: 'gen_ai.tool.type', type: 'string' },
  mcpMethod: { name: 'mcp.method.name', type: 'string' },
  errorType: { name: 'error.type', type: 'string' },
  status: { name: 'http.response.status_code', type: 'int' },
  userAgent: { name: 'user_agent.original', type: 'string' },
  userId: { name: 'user.id', type: 'string' },
  sessionId: { name: 'session.id', type: 'string' },
  totalTokens: { name: 'gen_ai.usage.total_tokens', type: 'int', beyond: 'receivers that do not add' },
  // The only cost below `gen_ai.usage`: Langfuse takes all else there for counts, and drops spans with fractions.
  cost: { name: 'gen_ai.usage.cost', type: 'double', beyond: 'receivers that show costs' },
  traceName: { name: 'trace.name', type: 'string', beyond: 'receivers that name traces' },
  langfuseTraceName: { name: 'langfuse.trace.name', type: 'string', beyond: 'Langfuse' },
  generationId: { name: 'signalbox.generation.id', type: 'string', beyond: GATEWAY },
  upstreamCost: { name: 'signalbox.upstream_cost', type: 'double', beyond: GATEWAY },
  workspaceId: { name: 'signalbox.workspace.id', type: 'string', beyond: GATEWAY },
  keyHash: { name: 'signalbox.key.hash', type: 'string', beyond: GATEWAY },
  keyCreator: { name: 'signalbox.key.creator_user_id', type: 'string', beyond: GATEWAY },
  format: { name: 'signalbox.request.format', type: 'string', beyond: GATEWAY },
  requestId: { name: 'signalbox.request.id', type: 'string', beyond: GATEWAY },
  app: { name: 'signalbox.request.app', type: 'string', beyond: GATEWAY },
  origin: { name: 'signalbox.request.origin', type: 'string', beyond: GATEWAY },
  presetId: { name: 'signalbox.request.preset', type: 'string', beyond: GATEWAY },
  strategy: { name: 'signalbox.routing.strategy', type: 'string', beyond: GATEWAY },
  attempts: { name: 'signalbox.routing.attempts', type: 'int', beyond: GATEWAY },
  isCancelled: { name: 'signalbox.cancelled', type: 'boolean', beyond: GATEWAY },
  usageSource: { name: 'signalbox.usage.source', type: 'string', beyond: GATEWAY },
  cacheSource: { name: 'signalbox.cache.source_generation_id', type: 'string', beyond: GATEWAY },
  messagesLeftOut: { name: 'signalbox.input.messages_left_out', type: 'int', beyond: GATEWAY },
  endpoint: { name: 'signalbox.endpoint', type: 'string', beyond: GATEWAY },
  isByok: { name: 'signalbox.byok', type: 'boolean', beyond: GATEWAY },
  serviceTier: { name: 'signalbox.service_tier', type: 'string', beyond: GATEWAY },
  leg: { name: 'signalbox.leg.number', type: 'int', beyond: GATEWAY },
  legKind: { name: 'signalbox.leg.kind', type: 'string', beyond: GATEWAY },
  legInputTokens: { name: 'signalbox.leg.input_tokens', type: 'int', beyond: GATEWAY },
  legOutputTokens: { name: 'signalbox.leg.output_tokens', type: 'int', beyond: GATEWAY },
  legCost: { name: 'signalbox.leg.cost', type: 'double', beyond: GATEWAY },
  toolOutcome: { name: 'signalbox.tool.outcome', type: 'string', beyond: GATEWAY },
  toolInputCharacters: { name: 'signalbox.tool.input_characters', type: 'int', beyond: GATEWAY },
  toolOutputCharacters: { name: 'signalbox.tool.output_characters', type: 'int', beyond: GATEWAY },
  toolCost: { name: 'signalbox.tool.cost', type: 'double', beyond: GATEWAY },
  mcpServer: { name: 'signalbox.mcp.server', type: 'string', beyond: GATEWAY },
  guardrailId: { name: 'signalbox.guardrail.id', type: 'string', beyond: GATEWAY },
  guardrailName: { name: 'signalbox.guardrail.name', type: 'string', beyond: GATEWAY },
  guardrailScope: { name: 'signalbox.guardrail.scope', type: 'string', beyond: GATEWAY },
  guardrailAction: { name: 'signalbox.guardrail.action', type: 'string', beyond: GATEWAY },
  guardrailDirection: { name: 'signalbox.guardrail.direction', type: 'string', beyond: GATEWAY },
  guardrailEngines: { name: 'signalbox.guardrail.engines', type: 'string[]', beyond: GATEWAY },
  cooldownMs: { name: 'signalbox.cooldown_ms', type: 'int', beyond: GATEWAY },
  fallbackFrom: { name: 'signalbox.fallback.from', type: 'string', beyond: GATEWAY },
  fallbackTo: { name: 'signalbox.fallback.to', type: 'string', beyond: GATEWAY },
} as const satisfies Readonly<Record<string, AttributeRow>>;

export type Attribute = keyof typeof ATTRIBUTES;

/** Values of attributes by the table's words; undefined and null ones are left out. */
export type AttributeValues = { readonly [Name in Attribute]?: ValueOf<Name> | null | undefined };

type ValueOf<Name extends Attribute> = ValueTypes[(typeof ATTRIBUTES)[Name]['type']];

interface ValueTypes {
  readonly string: string;
  readonly int: number;
  readonly double: number;
  readonly boolean: boolean;
  readonly 'string[]': readonly string[];
  readonly any: string;
}

const WRITERS: { readonly [Type in AttributeType]: (value: ValueTypes[Type]) => AnyValue } = {
  string: (stringValue) => ({ stringValue }),
  int: (value) => ({ intValue: String(Math.round(value)) }),
  double: (doubleValue) => ({ doubleValue }),
  boolean: (boolValue) => ({ boolValue }),
  'string[]': (values) => ({ arrayValue: { values: values.map((stringValue) => ({ stringValue })) } }),
  any: (stringValue) => ({ stringValue }),
};

export function attributes(values: AttributeValues): KeyValue[] {
  return addAttributes([], values);
}

/** Adds to a list, which is much cheaper than putting values of several kinds into one object first. */
export function addAttributes(list: KeyValue[], values: AttributeValues): KeyValue[] {
  for (const word in values) {
    const value = values[word as Attribute];
    if (value === undefined || value === null) continue;
    const { name, type } = ATTRIBUTES[word as Attribute];
    list.push({ key: name, value: WRITERS[type](value as never) });
  }
  return list;
}

/** Names of providers where the conventions have one; others are sent as they are, in lower case. */
const PROVIDER_NAMES: Readonly<Record<string, string>> = {
  'Amazon Bedrock': 'aws.bedrock',
  Azure: 'azure.ai.openai',
  'Google AI Studio': 'gcp.gemini',
  Google: 'gcp.vertex_ai',
  Mistral: 'mistral_ai',
  xAI: 'x_ai',
};

export function providerNameOf(provider: string): string {
  return PROVIDER_NAMES[provider] ?? provider.toLowerCase();
}
