import type { Format } from '../../../ir/items.ts';
import type { Json, JsonObject } from '../../../kit/json/json.ts';
import { objectAt, objectOf, objectsAt, stringAt } from '../../../kit/json/members.ts';
import { lookUp } from '../../../kit/net/lookup.ts';
import { DOCUMENTED_FIELDS as CHAT_FIELDS } from '../../chat/wire.ts';
import { DOCUMENTED_FIELDS as MESSAGES_FIELDS } from '../../messages/wire.ts';
import { DOCUMENTED_FIELDS as RESPONSES_FIELDS } from '../../responses/wire.ts';
import { presetMessage } from './preset-message.ts';
import { uniteTools, writeToolChoice } from './preset-tools.ts';

/** Puts a member of a preset into a request: the fields to set, none where the request has its own. */
export type Put = (value: Json, body: JsonObject) => JsonObject;

/** A member of a preset by what it means. Formats that are absent have no field for it. */
export interface PresetMember {
  /** What it may be called; the first is the name in our own words. */
  readonly names: readonly string[];
  readonly put: Readonly<Partial<Record<Format, Put>>>;
}

const FIELDS: Readonly<Record<Format, ReadonlySet<string>>> = {
  responses: RESPONSES_FIELDS,
  messages: MESSAGES_FIELDS,
  chat: CHAT_FIELDS,
};

/** Fields that belong to one request: no preset can have them. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  'input',
  'messages',
  'stream',
  'stream_options',
  'store',
  'background',
  'previous_response_id',
  'conversation',
  'session_id',
  'fallbacks',
  'debug',
  'preset',
  'n',
]);

/** Members that the formats call differently, or write differently. All others have one name and one shape. */
const MEMBERS: readonly PresetMember[] = [
  {
    names: ['system_prompt', 'instructions', 'system'],
    put: { responses: as('instructions'), messages: as('system'), chat: putSystemMessage },
  },
  {
    names: ['max_output_tokens', 'max_tokens', 'max_completion_tokens'],
    put: {
      responses: as('max_output_tokens'),
      messages: as('max_tokens'),
      chat: as('max_completion_tokens', 'max_tokens'),
    },
  },
  {
    names: ['models'],
    put: { responses: as('models'), messages: as('models', 'fallbacks'), chat: as('models') },
  },
  {
    names: ['stop', 'stop_sequences'],
    put: { messages: (value, body) => as('stop_sequences')([value].flat(), body), chat: as('stop') },
  },
  {
    names: ['reasoning'],
    put: { responses: as('reasoning'), messages: putThinking, chat: as('reasoning', 'reasoning_effort') },
  },
  {
    names: ['tools'],
    put: { responses: putTools('responses'), messages: putTools('messages'), chat: putTools('chat') },
  },
  {
    names: ['tool_choice'],
    put: {
      responses: putToolChoice('responses'),
      messages: putToolChoice('messages'),
      chat: putToolChoice('chat'),
    },
  },
];

/** The member of this name; undefined when no format knows it, or a preset cannot have it. */
export function presetMember(name: string): PresetMember | undefined {
  const special = MEMBERS.find(({ names }) => names.includes(name));
  if (special !== undefined) return special;
  if (OWN_FIELDS.has(name)) return undefined;
  const formats = (Object.keys(FIELDS) as Format[]).filter((format) => FIELDS[format].has(name));
  if (formats.length === 0) return undefined;
  return { names: [name], put: Object.fromEntries(formats.map((format) => [format, as(name)])) };
}

/** Sets a field, unless the request has it or one that says the same. */
function as(field: string, ...synonyms: string[]): Put {
  return (value, body) =>
    [field, ...synonyms].some((name) => isGiven(body[name])) ? {} : { [field]: value };
}

/** Null is as good as absent. */
function isGiven(value: Json | undefined): boolean {
  return value !== undefined && value !== null;
}

/** The chat format has its system prompt among the messages. */
function putSystemMessage(value: Json, body: JsonObject): JsonObject {
  const messages = objectsAt(body, 'messages');
  if (messages.some(({ role }) => role === 'system' || role === 'developer')) return {};
  return { messages: [presetMessage(String(value)), ...messages] };
}

function putTools(format: Format): Put {
  return (value, body) => ({ tools: uniteTools(body.tools, value, format) });
}

function putToolChoice(format: Format): Put {
  return (value, body) => as('tool_choice')(writeToolChoice(value, format), body);
}

/** Efforts of the messages format that are called otherwise elsewhere. */
const MESSAGES_EFFORTS: Readonly<Record<string, string>> = { minimal: 'low' };

/** The messages format tells whether to think and how hard in two places. */
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
        output_config: { ...config, effort: lookUp(MESSAGES_EFFORTS, effort) ?? effort },
      }),
  };
}

function thinkingOf({ effort, enabled, max_tokens, exclude }: JsonObject): JsonObject | undefined {
  if (effort === 'none' || enabled === false) return { type: 'disabled' };
  const display = exclude === true ? { display: 'omitted' } : {};
  if (isGiven(max_tokens)) return { type: 'enabled', budget_tokens: max_tokens, ...display };
  return enabled === true || exclude === true ? { type: 'adaptive', ...display } : undefined;
}

/** The members of a preset that are set, with what they mean; names that nobody knows are left out. */
export function membersOf(preset: JsonObject): { name: string; value: Json; member: PresetMember }[] {
  return Object.entries(preset).flatMap(([name, value]) => {
    const member = presetMember(name);
    return member === undefined || value === undefined || value === null ? [] : [{ name, value, member }];
  });
}
