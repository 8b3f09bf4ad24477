import { invalidRequest } from '../../../ir/errors.ts';
import type { GenerationRequest, Tool } from '../../../ir/request.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../kit/json/json.ts';
import { quoted, shortened } from '../../../kit/text/quoted.ts';
import type { Report } from '../report/report.ts';

/** Checks that no schema can express: fields that are each valid and impossible together. Throws 422. */
export function checkSemantics(
  request: Pick<GenerationRequest, 'tools' | 'toolChoice' | 'reasoning' | 'requestedOutputTokens'>,
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
  const unknown = toolChoice?.mode === 'allowed' ? firstUndeclared(toolChoice.tools, tools) : undefined;
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
  const budget = reasoning?.budgetTokens;
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

/** The first entry of an allow list that names none of the tools: by name, or a hosted one by its type. */
function firstUndeclared(entries: readonly JsonObject[], tools: readonly Tool[]): JsonObject | undefined {
  const kinds = new Set<unknown>(tools.map((tool) => (tool.type === 'hosted' ? tool.kind : undefined)));
  return entries.find(({ name, type }) => {
    const isDeclared =
      typeof name === 'string'
        ? tools.some((tool) => isNamed(tool, name))
        : type !== undefined && kinds.has(type);
    return !isDeclared;
  });
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
