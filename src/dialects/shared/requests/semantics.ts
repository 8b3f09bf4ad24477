import { invalidRequest } from '../../../ir/errors.ts';
import type { GenerationRequest, Tool } from '../../../ir/request.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../kit/json/json.ts';
import { quoted, shortened } from '../../../kit/text/quoted.ts';
import type { Report } from '../report/report.ts';

/** Checks that no schema can express: fields that are each valid and impossible together. Throws 422. */
export function checkSemantics(
  request: Pick<
    GenerationRequest,
    'tools' | 'toolChoice' | 'reasoning' | 'requestedOutputTokens' | 'mayThinkBeyondLimit'
  >,
  names: { toolChoice: string; budget: string },
): void {
  const { tools, toolChoice, reasoning, requestedOutputTokens } = request;
  if (toolChoice?.mode === 'tool' && !tools.some((tool) => isNamed(tool, toolChoice.name))) {
    throw invalidRequest(
      [
        {
          path: names.toolChoice,
          message: `names the tool ${quoted(toolChoice.name)}, which is not in tools`,
        },
      ],
      'unprocessable',
    );
  }
  const named =
    toolChoice?.mode === 'allowed'
      ? toolChoice.tools
      : toolChoice?.mode === 'hosted'
        ? [toolChoice.value]
        : [];
  const unknown = named.find((entry) => !tools.some((tool) => isMeant(tool, entry)));
  if (unknown !== undefined) {
    throw invalidRequest(
      [
        {
          path: names.toolChoice,
          message: `names a tool that is not in tools: ${shortened(JSON.stringify(unknown))}`,
        },
      ],
      'unprocessable',
    );
  }
  if (toolChoice?.mode === 'required' && tools.length === 0) {
    throw invalidRequest(
      [{ path: names.toolChoice, message: 'requires a tool call, but tools is empty' }],
      'unprocessable',
    );
  }
  const budget = request.mayThinkBeyondLimit === true ? undefined : reasoning?.budgetTokens;
  if (budget !== undefined && requestedOutputTokens !== undefined && budget >= requestedOutputTokens) {
    throw invalidRequest(
      [{ path: names.budget, message: `must be below the output limit of ${requestedOutputTokens} tokens` }],
      'unprocessable',
    );
  }
}

/** True for empty content of a message: absent, empty, or made of empty texts. */
export function isSilent(content: Json | undefined): boolean {
  if (Array.isArray(content)) return content.every((part) => isJsonObject(part) && part.text === '');
  return content === undefined || content === null || content === '';
}

/** True if an entry of a choice means a tool: a server of MCP tools by its label, others by name or by type. */
export function isMeant(tool: Tool, { name, type, server_label: label }: JsonObject): boolean {
  if (label !== undefined) return tool.type === 'hosted' && tool.value.server_label === label;
  if (typeof name === 'string') return isNamed(tool, name);
  return tool.type === 'hosted' && typeof type === 'string' && isSameKind(tool.kind, type);
}

/** Versions of a type mean the same tool: `web_search_preview` is `web_search_2025_08_26`, or `acme:web_search`. */
function isSameKind(kind: string, type: string): boolean {
  const [first, second] = [familyOf(kind), familyOf(type)];
  return first === second || first.startsWith(`${second}_`) || second.startsWith(`${first}_`);
}

/** A type without the vendor and the version. */
export function familyOf(type: string): string {
  return type.replace(/^.*:/, '').replace(/(?:_preview)?(?:_\d{4}_?\d\d_?\d\d)?$/, '');
}

/** A tool of the gateway may be named without the vendor's prefix of its type. */
function isNamed(tool: Tool, name: string): boolean {
  if (tool.type !== 'hosted') return tool.name === name;
  return tool.value.name === name || tool.kind.endsWith(`:${name}`);
}

/** Refuses a conversation without any content for the model: an upstream would refuse it. */
export function refuseSilence(turns: readonly unknown[], report: Report): void {
  if (turns.length > 0) return;
  throw invalidRequest([
    { path: report.name('items'), message: 'the conversation has no content for the model' },
  ]);
}
