import { type HostedPrice, type HostedUse, plusHosted, type ToolUnits } from '../../ir/hosted-use.ts';
import type { ImageItem, OutputItem } from '../../ir/items.ts';
import { tokenCount } from '../../ir/usage.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { compact, objectAt, textAt } from '../../kit/json/members.ts';
import {
  type AskedTool,
  askedAmong,
  type HostedTools,
  ONLY_TOKENS,
  type ToolRow,
  type ToolsRun,
} from '../shared/tools/hosted-tools.ts';
import { searchBySwitch } from '../shared/tools/search-switches.ts';

/** The upstream runs tools itself. One limit counts all calls of them. */
export const hosted: HostedTools = {
  native: {
    takes: new Set(['include_domains', 'max_uses', 'user_location']),
    hasToolsBeside: true,
    isBoundByToolCalls: true,
    tool({ allowedHosts, userLocation }) {
      const value = compact({
        type: 'web_search',
        filters: allowedHosts && { allowed_domains: [...allowedHosts] },
        user_location: userLocation,
      });
      return { type: 'hosted', dialect: 'responses', kind: 'web_search', value: value as JsonObject };
    },
  },
  prices: ['web_search', 'file_search', 'code_execution', 'image_generation', 'image_generation_input'],
  sharesLimit: true,
  asked({ format, body, tools, wishes }, _supported, ownTools) {
    const bounds = { most: wishes.maxToolCalls ?? Number.POSITIVE_INFINITY, isBoundable: true };
    const asked = askedAmong(tools, 'responses', ROWS, () => bounds, ownTools);
    const search = format === 'responses' ? searchBySwitch(body) : undefined;
    return search === undefined ? asked : [...asked, search];
  },
  bound(request, most) {
    const wishes = { ...request.wishes, maxToolCalls: most };
    const body = { ...request.body, max_tool_calls: most };
    return { request: { ...request, wishes, body }, field: 'max_tool_calls' };
  },
  run: toolsRun,
};

// --- What calls cost ------------------------------------------------------------------------------------------------

/** A container is billed by its memory: the price is that of one gigabyte (OpenAI, Pricing, Containers). */
const GIGABYTES: Readonly<Record<string, number>> = { '1g': 1, '4g': 4, '16g': 16, '64g': 64 };

function containerOf(tool: JsonObject): ToolUnits {
  const memory = textAt(objectAt(tool, 'container') ?? objectAt(tool, 'environment'), 'memory_limit') ?? '1g';
  return { code_execution: GIGABYTES[memory] ?? 64 };
}

/** A shell runs in a container of the provider, or at the caller. */
function shellOf(tool: JsonObject): ToolUnits | undefined {
  return isInContainer(tool) ? containerOf(tool) : undefined;
}

function isInContainer(value: JsonObject): boolean {
  return textAt(objectAt(value, 'environment'), 'type')?.startsWith('container') === true;
}

/**
 * Output tokens of a picture by quality: the most of the published ones (OpenAI, Image generation, Cost), for up to
 * 1.6 million pixels. Larger pictures count at most twice as much.
 */
const PICTURE_TOKENS: Readonly<Record<string, number>> = {
  low: 500,
  medium: 2_000,
  auto: 7_500,
  high: 7_500,
  xhigh: 15_000,
  max: 30_000,
};

/** Output tokens of a picture whose quality is not known here. */
const MOST_PICTURE_TOKENS = Math.max(...Object.values(PICTURE_TOKENS));

const USUAL_PIXELS = 1_600_000;

/** Tokens of a picture that streams before it is finished. */
const PARTIAL_PICTURE_TOKENS = 100;

/** Input tokens of a picture: its description, and pictures of the conversation. */
const PICTURE_INPUT_TOKENS = 5_000;

function pictureOf(tool: JsonObject): ToolUnits {
  const usual = PICTURE_TOKENS[textAt(tool, 'quality') ?? 'auto'] ?? MOST_PICTURE_TOKENS;
  const [width = 0, height = 0] = (/^(\d{1,5})x(\d{1,5})$/.exec(textAt(tool, 'size') ?? '') ?? [])
    .slice(1)
    .map(Number);
  const isLarge = width * height > USUAL_PIXELS;
  const partial = Math.min(tokenCount(tool.partial_images) ?? 0, 3) * PARTIAL_PICTURE_TOKENS;
  return {
    image_generation: usual * (isLarge ? 2 : 1) + partial,
    image_generation_input: PICTURE_INPUT_TOKENS,
  };
}

const ROWS: readonly ToolRow[] = [
  { type: /^web_search/, units: () => ({ web_search: 1 }) },
  { type: /^x_search/, units: () => ({ x_search: 1 }) },
  { type: /^(?:file|collections)_search/, units: () => ({ file_search: 1 }) },
  { type: /^code_(?:interpreter|execution)/, units: containerOf, isOnce: true },
  { type: /^shell$/, units: shellOf, isOnce: true },
  { type: /^image_generation/, units: pictureOf },
  { type: /^mcp$/, units: ONLY_TOKENS },
  { type: /^(?:computer|local_shell|apply_patch|tool_search|function|custom|namespace)/ },
];

// --- What answers show ----------------------------------------------------------------------------------------------

/** Counts the calls in an answer. Containers are told apart by their ids. */
function toolsRun(items: readonly OutputItem[], asked: readonly AskedTool[]): ToolsRun {
  const unitsOf = (name: HostedPrice) =>
    asked.find(({ units }) => units?.[name] !== undefined)?.units?.[name] ?? 0;
  const containers = new Set<string>();
  let [calls, searches] = [0, 0];
  let hosted: HostedUse | undefined;
  for (const item of items) {
    if (item.type === 'image') {
      calls += 1;
      hosted = plusHosted(hosted, pictureShown(item, asked));
    }
    if (item.type !== 'opaque' || item.dialect !== 'responses') continue;
    const { value } = item;
    switch (value.type) {
      case 'web_search_call':
        calls += 1;
        if (isSearchCall(value)) searches += 1;
        break;
      case 'x_search_call':
      case 'file_search_call': {
        calls += 1;
        const name = value.type === 'x_search_call' ? 'x_search' : 'file_search';
        hosted = plusHosted(hosted, { [name]: 1 });
        break;
      }
      case 'code_interpreter_call':
        calls += 1;
        containers.add(textAt(value, 'container_id') ?? '');
        break;
      case 'shell_call':
        if (!isInContainer(value)) break;
        calls += 1;
        containers.add(textAt(objectAt(value, 'environment'), 'container_id') ?? '');
        break;
      case 'image_generation_call':
      case 'mcp_call':
        calls += 1;
        break;
      default:
    }
  }
  if (containers.size > 0) {
    hosted = plusHosted(hosted, { code_execution: containers.size * unitsOf('code_execution') });
  }
  return { calls, searches, hosted: hosted ?? {} };
}

/** True for a call of the search tool that searched, and did not open a page. */
export function isSearchCall(item: JsonObject): boolean {
  return item.type === 'web_search_call' && (objectAt(item, 'action')?.type ?? 'search') === 'search';
}

/** A picture by what its item says of it, else by what the request asks for. */
function pictureShown(item: ImageItem, asked: readonly AskedTool[]): HostedUse {
  const shown = item.ext?.responses;
  if (textAt(shown, 'quality') !== undefined) return pictureOf(shown ?? {});
  const units = asked.find((tool) => tool.units?.image_generation !== undefined)?.units;
  return units === undefined ? {} : { ...units };
}
