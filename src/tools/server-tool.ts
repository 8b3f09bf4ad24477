import type { TSchema } from 'typebox';
import type { Catalog, Endpoint } from '../catalog/catalog.ts';
import type { FusionSettings } from '../catalog/fusion-team.ts';
import type { ConversationForm } from '../ir/format-facts.ts';
import type { DialectName, RequestFormat, Source } from '../ir/items.ts';
import type { ChargeKind, LegKind, PaidCharge, ToolSearch } from '../ir/leg.ts';
import type { PipelineEntry } from '../ir/metadata.ts';
import type { GenerationRequest } from '../ir/request.ts';
import type { Result } from '../ir/result.ts';
import type { ToldSpan, ToldTrace } from '../ir/trace.ts';
import type { JsonObject } from '../kit/json/json.ts';
import type { ReadMembers } from '../kit/json/unread-members.ts';
import type { Log } from '../kit/log/log.ts';
import type { Nanos } from '../kit/money.ts';
import type { Egress } from '../net/egress/egress.ts';
import type { StoredFile } from '../ports/content/files.ts';
import type { Caller } from '../ports/tenancy/caller.ts';
import type { Workspace } from '../ports/tenancy/tenancy.ts';
import type { FoundPage } from '../web/engines/engine.ts';
import type { WebSettings } from '../web/web-settings.ts';

/** Files of the caller's workspace. Those of other workspaces are not found. Rejects with a GatewayError. */
export interface WorkspaceFiles {
  /** Oldest first. */
  list(caller: Caller, page: { readonly limit: number }): Promise<{ readonly files: readonly StoredFile[] }>;
  /** A file with its content. `isDownload`: the caller gets the content itself, which that of uploads forbids. */
  read(
    caller: Caller,
    id: string,
    purpose?: { readonly isDownload: boolean },
  ): Promise<{ readonly file: StoredFile; readonly content: AsyncIterable<Uint8Array> }>;
  make(caller: Caller, filename: string, content: Uint8Array): Promise<StoredFile>;
}

export interface ToolLimits {
  /** Most steps of one loop of tool calls. */
  readonly steps: number;
  /** The model with image output that draws; undefined = none. */
  readonly imageModel: string | undefined;
  /** The service that runs commands; undefined = none. */
  readonly sandbox: SandboxSettings | undefined;
}

/** The service that runs commands, see docs/guide/sandbox.md. */
export interface SandboxSettings {
  readonly url: string;
  readonly runNanos: Nanos;
  readonly token: string | undefined;
}

export interface ToolSettings {
  readonly vendor: string;
  readonly catalog: Catalog;
  /** Search engines, and the bounds of one search, page or tool call. */
  readonly web: WebSettings;
  readonly tools: ToolLimits;
  readonly fusion: FusionSettings;
}

export interface DeclaredFunction {
  /** Wanted name; absent = that of the tool. */
  readonly name?: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject;
}

export interface ToolCall {
  readonly callId: string;
  /** Valid for `declare().parameters`. */
  readonly arguments: JsonObject;
  /** `parameters` of the tool in the request, without nulls. */
  readonly parameters: JsonObject;
  /** Earlier calls of the same tool in this generation. */
  readonly uses: number;
  /**
   * Claims results for this call, so that calls at the same time find no more together than `most` in this generation.
   * Returns how many it may have. Those that are not found (`ToolOutcome.pages`) are free again afterwards.
   */
  claimResults(wanted: number, most: number): number;
}

/** How a tool calls another model. */
export interface NestedCall {
  readonly kind: LegKind;
  readonly signal: AbortSignal;
  /** Gets the text of the answer piece by piece. */
  readonly onText?: (text: string) => void;
  /** Gets the thoughts before the answer piece by piece. */
  readonly onThought?: (text: string) => void;
}

export interface ToolContext {
  readonly generationId: string;
  readonly settings: ToolSettings;
  readonly caller: Caller;
  readonly workspace: Workspace;
  readonly egress: Egress;
  readonly files: WorkspaceFiles;
  /** Aborted when the caller leaves, the deadline passes, or the tool's own time is over. */
  readonly signal: AbortSignal;
  /** The request as the model has it, with the conversation so far. */
  readonly request: GenerationRequest;
  /** The endpoint by whose prices things besides model calls are charged; undefined = none was planned. */
  readonly endpoint: Endpoint | undefined;
  readonly log: Pick<Log, 'warn'>;
  /** What services are told of the trace; absent = nothing. */
  readonly toldTrace?: ToldTrace | undefined;
  /** The span of the call, where its service is told of it. `egress.call` tells by itself. */
  readonly told?: ToldSpan | undefined;
  now(): number;
  /** Pays for something besides a model call, before it is done. Undefined = the limits are too low. */
  charge(kind: ChargeKind, nanos: Nanos): Promise<PaidCharge | undefined>;
  /** Adds an entry to the pipeline of the routing metadata. */
  note(entry: PipelineEntry): void;
  /**
   * Runs a model call as a leg of this generation, and returns its whole answer; a failure is in `failure`. A leg
   * beyond the limits ends with the finish reason `budget`. Server tools of the request run in a loop of their own,
   * whose model calls are legs of the same kind.
   */
  leg(request: GenerationRequest, call: NestedCall): Promise<Result>;
  /** Shows the caller a piece of the result while the tool runs. */
  tell(text: string): void;
  /** Shows the caller a step of the tool, in formats that have events for it. */
  showStep(step: string, members: JsonObject): void;
}

export interface ToolOutcome {
  /** Text for the model. */
  readonly output: string;
  /** Members of the item that the caller gets. */
  readonly shown: JsonObject;
  readonly isFailed?: boolean;
  /** An image that was made: a part of the answer in formats that do not show the item. */
  readonly image?: Source;
  /** False if nothing has run, because the caller has to approve the call. Absent = it has. */
  readonly isRun?: boolean;
  /** Pages that links of the answer may cite. */
  readonly pages?: readonly FoundPage[];
  /** Cost of the call besides legs, for the record. */
  readonly nanos?: Nanos;
  readonly search?: ToolSearch;
  /** True if the answer ends with this call, because the caller goes on with it. */
  readonly ends?: true;
}

/**
 * A tool that the gateway runs. One file or folder each, all in `table.ts`. A tool does not throw for its own
 * failures: it returns `toolFailure`. The loop does the same for tools that throw or take too long.
 */
export interface ServerTool {
  /** Short name, such as `web_search`; its type is `<vendor>:<name>`. */
  readonly name: string;
  /** Its name in records; absent = `name`. */
  readonly recordName?: string;
  /** Members of the item of a call that failed, unless its outcome has them. */
  readonly failureMembers?: JsonObject;
  /** Types of the formats that run this tool if the upstream does not run them. */
  readonly hostedTypes?: RegExp;
  /** `parameters` of the tool for members of a hosted tool; undefined = this gateway cannot run it. */
  readonly ofHosted?: (hosted: JsonObject, settings: ToolSettings) => JsonObject | undefined;
  /** Members that `ofHosted` reads besides the type and the name; others have no effect, and are reported. */
  readonly hostedMembers?: ReadMembers;
  /** Parameters that have no effect on this gateway, or in requests of the format; absent = all have one. */
  unused?(parameters: JsonObject, settings: ToolSettings, form: ConversationForm): readonly string[];
  /** True if it calls models: `parameters.tools` are server tools for them, but none that calls models again. */
  readonly callsModels?: boolean;
  /** True if the time limits of model calls bound it: the limit of one tool call does not hold. */
  readonly isTimedByLegs?: boolean;
  /** True if a call costs the operator nothing: keys at their limits may make it. Absent = it may cost something. */
  readonly costsNothing?: true;
  /** True if it reads pages: the pipeline says how many were read, and why others were not. */
  readonly readsPages?: true;
  /** True if its calls end the answer, because the caller goes on with them. */
  readonly endsAnswer?: boolean;
  /** The formats whose requests may have it; absent = all. */
  readonly formats?: readonly RequestFormat[];
  /** The tool that upstreams of a dialect run instead, unless the parameter `engine` is the vendor's name. */
  readonly native?: { readonly dialect: DialectName; readonly value: JsonObject & { readonly type: string } };
  /** The name by which instances of the tool in one request must differ; absent = they need not. */
  instance?(parameters: JsonObject): string;
  /** Schema of `parameters` in requests. */
  readonly parameters: TSchema;
  /** The reason why it cannot run on this gateway, or with these parameters; undefined = it can. */
  unavailable?(parameters: JsonObject, settings: ToolSettings): ToolIssue | undefined;
  /** True if it needs no model, no upstream and no conversation: it is offered to MCP clients. Absent = it is not. */
  runsAlone?(settings: ToolSettings): boolean;
  declare(parameters: JsonObject): DeclaredFunction;
  run(call: ToolCall, context: ToolContext): Promise<ToolOutcome>;
}

export interface ToolIssue {
  /** Path below the tool; absent = its type. */
  readonly path?: string;
  readonly message: string;
}

/** A failure as the model gets it. `code`: error code of the messages format, for tools that have blocks there. */
export function toolFailure(error: string, shown: JsonObject = {}, code?: string): ToolOutcome {
  const output = JSON.stringify({ status: 'error', error, ...(code !== undefined && { code }) });
  return { output, shown: { ...shown, error }, isFailed: true };
}
