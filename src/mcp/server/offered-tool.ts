import type { ChargeKind } from '../../ir/leg.ts';
import type { PipelineEntry } from '../../ir/metadata.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { ToolResultBlock } from '../../ir/tool-result-block.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { Nanos } from '../../kit/money.ts';
import type { Caller } from '../../ports/tenancy/caller.ts';

export interface ToolRun {
  readonly generationId: string;
  /** Aborted when the caller leaves or the deadline passes. */
  readonly signal: AbortSignal;
  /** The call as a request without a model. */
  readonly request: GenerationRequest;
  /** Adds an entry to the pipeline of the routing metadata. */
  note(entry: PipelineEntry): void;
  /** Pays for something, before it is done. Undefined = the limits are too low. */
  charge(kind: ChargeKind, nanos: Nanos): Promise<{ waive(): Promise<void> } | undefined>;
  /** Called with how far the tool has come; absent = the client does not ask. */
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
}

/** How far a tool has come, in numbers alone: texts would have to pass the guardrails of the caller. */
export type ToolProgress = { readonly progress: number; readonly total?: number };

export interface ToolResult {
  readonly blocks: readonly ToolResultBlock[];
  readonly structured?: JsonObject | undefined;
  readonly isError: boolean;
  /** False if the tool was not run, because its arguments are not valid. Absent = it was. */
  readonly isRun?: boolean;
}

/** A tool that MCP clients of the gateway may call. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** JSON Schema of structured results; absent = it declares none. */
  readonly outputSchema?: JsonObject | undefined;
  /** Members that are only shown, such as `title` and `annotations`; absent = none. */
  readonly presentation?: JsonObject | undefined;
  /** True if a call costs the operator nothing. Absent = it may cost something. */
  readonly costsNothing?: true | undefined;
  /** Rejects with the signal's reason, or with 402; other failures are results. */
  run(given: JsonObject, run: ToolRun): Promise<ToolResult>;
}

export interface McpOffers {
  readonly serverInfo: { readonly name: string; readonly version: string };
  /** The tools that a caller may use. Asks all servers whose tools are not known. */
  of(caller: Caller, signal: AbortSignal): Promise<readonly OfferedTool[]>;
  /** The tool of that name; undefined = there is none. Asks no server but that of the tool. */
  named(name: string, caller: Caller, signal: AbortSignal): Promise<OfferedTool | undefined>;
}
