import { mcpToolIn } from '../../ir/mcp-function-name.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { numberAt, objectsAt, textAt } from '../../kit/json/members.ts';
import { SPAN_KINDS, type Span, STATUS_CODES } from '../otlp/messages.ts';
import { unixNano } from '../otlp/values.ts';
import { attributes } from './conventions.ts';
import { costAt } from './costs.ts';
import { type RowTimes, toolCallTimes } from './row-times.ts';
import type { SpanPlace } from './span-place.ts';

/** A span for each call of a server tool, those of MCP servers included. */
export function toolSpans(row: JsonObject, place: SpanPlace, times: RowTimes, sendsCost: boolean): Span[] {
  return objectsAt(row, 'tool_calls').map((call, index) => {
    const name = textAt(call, 'name') ?? '';
    const outcome = textAt(call, 'outcome') ?? 'ok';
    const mcp = mcpToolIn(name);
    const isRemote = mcp !== undefined || call.span_id !== undefined;
    const { startMs, endMs } = toolCallTimes(call, times.startMs);
    return {
      ...place.child('tool', index, place.toolCall(call, index)),
      name: mcp === undefined ? `execute_tool ${name}` : `tools/call ${mcp.tool}`,
      kind: isRemote ? SPAN_KINDS.client : SPAN_KINDS.internal,
      startTimeUnixNano: unixNano(startMs),
      endTimeUnixNano: unixNano(endMs),
      attributes: attributes({
        operation: 'execute_tool',
        toolName: mcp?.tool ?? name,
        toolType: 'extension',
        mcpMethod: mcp === undefined ? undefined : 'tools/call',
        mcpServer: mcp?.label,
        leg: numberAt(call, 'leg'),
        toolOutcome: outcome,
        toolInputCharacters: numberAt(call, 'input_characters'),
        toolOutputCharacters: numberAt(call, 'output_characters'),
        toolCost: sendsCost ? costAt(call, 'cost_nanos') : undefined,
        errorType: outcome === 'ok' ? undefined : outcome,
      }),
      status: outcome === 'ok' ? undefined : { code: STATUS_CODES.error, message: outcome },
    };
  });
}
