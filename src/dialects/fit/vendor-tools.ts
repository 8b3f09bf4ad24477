import type { GenerationRequest, ToolChoice } from '../../ir/request.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { Report } from '../shared/report/report.ts';
import { isVendorType, notRun } from '../shared/tools/additional-tools.ts';

/**
 * The request without tools of the form `<vendor>:*`, and with a report on them: gateways run these. Those of this one
 * have functions in their place by now, so what is left is a tool of another vendor.
 */
export function withoutVendorTools(request: GenerationRequest): GenerationRequest {
  if (!request.tools.some((tool) => tool.type === 'hosted' && isVendorType(tool.kind))) return request;
  const report = new Report(request);
  const tools = request.tools.filter((tool) => {
    if (tool.type !== 'hosted' || !isVendorType(tool.kind)) return true;
    report.dropped(report.place(tool, 'tools'), notRun(tool.kind));
    return false;
  });
  const { toolChoice, parallelToolCalls, ...rest } = request;
  const { tools: written, tool_choice: choice, ...others } = request.body;
  const kept = Array.isArray(written) ? written.filter((tool) => !isOfVendor(tool)) : [];
  const left = tools.length === 0 || toolChoice === undefined ? undefined : choiceWithout(toolChoice);
  if (toolChoice !== undefined && left === undefined) {
    report.dropped(report.name('toolChoice'), 'means none of the tools that are sent');
  }
  const body: JsonObject = {
    ...others,
    ...(kept.length === 0 ? { parallel_tool_calls: null } : { tools: kept }),
    ...(left !== undefined && choice !== undefined && { tool_choice: withoutTypes(choice) }),
  };
  return {
    ...rest,
    tools,
    body,
    ignoredMembers: [...(request.ignoredMembers ?? []), ...report.entries],
    ...(left !== undefined && { toolChoice: left }),
    ...(parallelToolCalls !== undefined && tools.length > 0 && { parallelToolCalls }),
  };
}

function isOfVendor(tool: Json): boolean {
  return isJsonObject(tool) && typeof tool.type === 'string' && isVendorType(tool.type);
}

/** A choice among the tools that are left; undefined = it means none of them. */
function choiceWithout(choice: ToolChoice): ToolChoice | undefined {
  if (choice.mode === 'hosted') return isOfVendor(choice.value) ? undefined : choice;
  if (choice.mode !== 'allowed') return choice;
  const tools = choice.tools.filter((tool) => !isOfVendor(tool));
  return tools.length === 0 ? undefined : { ...choice, tools };
}

/** The choice as the caller has written it, without such tools in its list. */
function withoutTypes(choice: Json): Json {
  if (!isJsonObject(choice)) return choice;
  const { tools, allowed_tools: allowed } = choice;
  if (Array.isArray(tools)) return { ...choice, tools: tools.filter((tool) => !isOfVendor(tool)) };
  return isJsonObject(allowed) ? { ...choice, allowed_tools: withoutTypes(allowed) } : choice;
}
