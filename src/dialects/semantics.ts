import { invalidRequest } from '../ir/errors.ts';
import type { GenerationRequest, Tool } from '../ir/request.ts';

/** Checks that no schema can make: fields that are each valid and impossible together. Throws 422. */
export function checkSemantics(
  request: Pick<GenerationRequest, 'tools' | 'toolChoice' | 'reasoning' | 'maxOutputTokens'>,
  names: { toolChoice: string; budget: string },
): void {
  const { tools, toolChoice, reasoning, maxOutputTokens } = request;
  if (toolChoice?.mode === 'tool' && !tools.some((tool) => isNamed(tool, toolChoice.name))) {
    throw invalidRequest(
      [{ path: names.toolChoice, message: `names the tool "${toolChoice.name}", which is not in tools` }],
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
  if (budget !== undefined && maxOutputTokens !== undefined && budget >= maxOutputTokens) {
    throw invalidRequest(
      [{ path: names.budget, message: `must be below the output limit of ${maxOutputTokens} tokens` }],
      'unprocessable',
    );
  }
}

function isNamed(tool: Tool, name: string): boolean {
  return tool.type === 'hosted' ? tool.value.name === name : tool.name === name;
}
