import { DIALECTS } from '../../dialects/dialects.ts';
import type { Tool } from '../../ir/request.ts';

/**
 * Tokens that upstreams add to a prompt to explain that there are tools. The most that Anthropic publishes is 804
 * (Tool use, Pricing: Claude Opus 4.7 with a forced choice).
 */
const PREAMBLE_TOKENS = 850;

/**
 * Tokens that Anthropic adds to a prompt for each tool of its own, by the beginning of the tool's type. Published
 * (Pricing, Tool use): 735 for computer use and 499 of instructions, 700 for the text editor, 245 for bash. 35 percent
 * are added for models since Claude Opus 4.7, which make up to that many more tokens of the same text.
 */
const DEFINITION_TOKENS: readonly (readonly [kind: RegExp, tokens: number])[] = [
  // About thirty tools in one. An assumption: no figure is published.
  [/^\w+_toolset/, 8_000],
  [/^computer/, 1_700],
  [/^bash/, 350],
];

/** The text editor, and all tools without a published figure. */
const OTHER_DEFINITION_TOKENS = 950;

/** Upper bound of the tokens that an upstream adds to a prompt for its tools. */
export function toolPreambleTokens(tools: readonly Tool[]): number {
  if (tools.length === 0) return 0;
  return tools.reduce((sum, tool) => sum + definitionTokens(tool), PREAMBLE_TOKENS);
}

function definitionTokens(tool: Tool): number {
  if (tool.type !== 'hosted' || DIALECTS[tool.dialect].facts.addsToolDefinitions !== true) return 0;
  return DEFINITION_TOKENS.find(([kind]) => kind.test(tool.kind))?.[1] ?? OTHER_DEFINITION_TOKENS;
}
