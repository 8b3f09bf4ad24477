import type { DecidingSetting } from '../../ir/format-facts.ts';
import type { Source } from '../../ir/items.ts';
import { lookUp } from '../../kit/collections/lookup.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import { compact, membersBeyond, objectAt, objectOf, objectsAt, stringAt } from '../../kit/json/members.ts';
import type { ConversationFormatFacts } from '../dialect-facts.ts';
import type { Medium, SourceMembers } from '../shared/media/check-media.ts';
import { type ChoiceMode, isGiven, putAs } from '../shared/presets/preset-form.ts';
import { isFromAnthropic } from '../shared/reasoning/seals-taken.ts';
import { listOf, systemMessage } from '../shared/requests/recorded-input.ts';
import { DOCUMENTED_FIELDS } from './wire.ts';

const IN_SOURCE: SourceMembers = { url: 'source.url', base64: 'source.data' };

const CHOICE_TYPES: Readonly<Record<ChoiceMode, string>> = { auto: 'auto', none: 'none', required: 'any' };

export const facts: ConversationFormatFacts = {
  seals: { ofThoughts: isFromAnthropic },
  betaCarrier: 'header',
  takesSafeguards: true,
  sendsAllowedToolsOnly: true,
  addsToolDefinitions: true,
  pausesTurns: true,
  speeds: { priority: 'fast' },
  request: {
    fieldNames: {
      stop: 'stop_sequences',
      requestedOutputTokens: 'max_tokens',
      parallelToolCalls: 'tool_choice.disable_parallel_tool_use',
      reasoning: 'thinking',
      outputFormat: 'output_config.format',
      items: 'messages',
    },
    conversation: {
      limitFields: ['max_tokens'],
      namesSchemas: false,
      showsPauses: true,
      mcpServersField: 'mcp_servers',
      schemaPath: '',
      allowedToolsPath: '.tools',
      hasClaudeStrictTools: true,
      fileStore: 'anthropic',
      reasoning: {
        places: {
          effort: 'output_config.effort',
          budgetTokens: 'thinking.budget_tokens',
          enabled: 'thinking.type',
          adaptive: 'thinking.type',
          display: 'thinking.display',
        },
        fields: ['thinking', 'output_config.effort'],
        hasSeparateEffort: true,
        isOffByDefault: true,
        isAdaptiveWithoutBudget: true,
        showsThoughtsIfAsked: true,
        withEffort: (body, replaced, effort) => ({
          ...body,
          thinking: thinkingWithout(replaced, objectAt(body, 'thinking')),
          output_config: { ...objectAt(body, 'output_config'), effort },
        }),
        withoutBudget: (body) => ({
          ...body,
          thinking: thinkingWithout('budgetTokens', objectAt(body, 'thinking')),
        }),
      },
      seals: { memberOf: () => 'signature', ofCall: (path) => `${path}.signature` },
      paths: {
        inPart: (_wrapper, member) => member,
        filename: 'title',
        callInput: (path) => `${path}.input`,
        inTool: (_tool, member) => member,
      },
    },
  },
  media: {
    parts: { image: IN_SOURCE, file: IN_SOURCE, audio: {}, video: {} },
    // The format has no block for an image that a model made: it is written as text.
    madeImage: { base64: 'text' },
    inOpaque: imagesInDocument,
  },
  preset: {
    format: 'messages',
    fields: DOCUMENTED_FIELDS,
    put: {
      systemPrompt: putAs('system'),
      outputLimit: putAs('max_tokens'),
      models: putAs('models', 'fallbacks'),
      stop: (value, body) => putAs('stop_sequences')([value].flat(), body),
      reasoning: putThinking,
    },
    tools: {
      writeFunction: ({ name, description, parameters, strict }) =>
        compact({ name, description, input_schema: { type: 'object', ...parameters }, strict }),
      writeChoiceMode: (mode) => ({ type: CHOICE_TYPES[mode] }),
      writeNamedChoice: (name) => ({ type: 'tool', name }),
    },
  },
  minimalRequest: { messages: [{ role: 'user', content: 'Hello' }] },
  recordedInput: ({ system, messages }) => ({ messages: [...systemMessage(system), ...listOf(messages)] }),
  simulatedSeal: (token) => ({ signature: token, format: 'anthropic-claude-v1' }),
};

// --- Thinking -------------------------------------------------------------------------------------------------------

/** `thinking` once an effort has replaced a setting; null = absent. */
function thinkingWithout(replaced: DecidingSetting, thinking: JsonObject | undefined): Json {
  if (thinking === undefined || replaced === 'enabled') return null;
  if (replaced === 'effort') return thinking;
  return { ...membersBeyond(thinking, new Set(['budget_tokens'])), type: 'adaptive' };
}

/** Efforts with another name in this format. */
const EFFORT_WORDS: Readonly<Record<string, string>> = { minimal: 'low' };

/** Thinking and its effort are two fields. */
function putThinking(value: Json, body: JsonObject): JsonObject {
  const config = objectAt(body, 'output_config');
  if (isGiven(body.thinking) || isGiven(config?.effort)) return {};
  const settings = objectOf(value);
  const thinking = thinkingOf(settings);
  const effort = stringAt(settings, 'effort');
  return {
    ...(thinking !== undefined && { thinking }),
    ...(effort !== undefined &&
      effort !== 'none' && {
        output_config: { ...config, effort: lookUp(EFFORT_WORDS, effort) ?? effort },
      }),
  };
}

function thinkingOf({ effort, enabled, max_tokens, exclude }: JsonObject): JsonObject | undefined {
  if (effort === 'none' || enabled === false) return { type: 'disabled' };
  const display = exclude === true ? { display: 'omitted' } : {};
  if (isGiven(max_tokens)) return { type: 'enabled', budget_tokens: max_tokens, ...display };
  return enabled === true || exclude === true ? { type: 'adaptive', ...display } : undefined;
}

// --- Media ----------------------------------------------------------------------------------------------------------

function imagesInDocument(block: JsonObject): Medium[] {
  return objectsAt(objectAt(block, 'source'), 'content').flatMap((inner, index) => {
    const source = inner.type === 'image' ? sourceIn(objectAt(inner, 'source')) : undefined;
    const inside = `.source.content[${index}]`;
    return source === undefined ? [] : [{ kind: 'image' as const, source, members: IN_SOURCE, inside }];
  });
}

function sourceIn(given: JsonObject | undefined): Source | undefined {
  const [url, data] = [stringAt(given, 'url'), stringAt(given, 'data')];
  if (url !== undefined) return { kind: 'url', url };
  if (data === undefined) return undefined;
  return { kind: 'base64', mediaType: stringAt(given, 'media_type') ?? '', data };
}
