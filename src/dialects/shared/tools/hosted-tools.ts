import type { HostedUse, ToolUnits } from '../../../ir/hosted-use.ts';
import type { OutputItem } from '../../../ir/items.ts';
import type { GenerationRequest, Tool } from '../../../ir/request.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import type { HostedTool, NativeSearch } from '../requests/native-search.ts';

/** A tool that a request lets an upstream run. */
export interface AskedTool {
  /** Its type in the request, or the field that asks for it. */
  readonly kind: string;
  /** What a call is billed, beside tokens; absent = not known. */
  readonly units?: ToolUnits;
  /** True if the units are billed once an answer, whatever the number of calls. */
  readonly isOnce?: boolean;
  /** Calls that the request allows; infinite = no limit. */
  readonly most: number;
  /** True if `bound` limits its calls. */
  readonly isBoundable: boolean;
}

/** What the items of an answer say about the tools that its upstream ran. */
export interface ToolsRun {
  readonly calls: number;
  readonly searches: number;
  readonly hosted: HostedUse;
}

export interface HostedTools {
  /** Absent = a plugin cannot leave its search to them. */
  readonly native?: NativeSearch;
  /** Prices of the tools that its upstreams run, whatever the provider; absent = that depends on the provider. */
  readonly prices?: readonly (keyof ToolUnits)[];
  /** True if one limit counts the calls of all tools. */
  readonly sharesLimit?: boolean;
  /**
   * The tools that a request lets an upstream run; `NO_TOOLS_ASKED` for most requests. `supported`: the parameters of
   * the endpoint; undefined = all. `ownTools`: types that its provider alone runs.
   */
  asked(
    request: GenerationRequest,
    supported?: ReadonlySet<string>,
    ownTools?: readonly string[],
  ): readonly AskedTool[];
  /** The request with at most `most` calls, and the field that limits them; absent = the dialect has no such field. */
  bound?(
    request: GenerationRequest,
    most: number,
  ): { readonly request: GenerationRequest; readonly field: string };
  /** Counts what an answer shows. Absent = its answers do not show calls. */
  run?(items: readonly OutputItem[], asked: readonly AskedTool[]): ToolsRun;
}

export const NO_TOOLS_ASKED: readonly AskedTool[] = [];

/** Tools by the beginning of their type; the first match counts. */
export interface ToolRow {
  readonly type: RegExp;
  /** What a call is billed. Absent or undefined = the caller runs the tool, and sends its results itself. */
  readonly units?: (tool: JsonObject) => ToolUnits | undefined;
  readonly isOnce?: boolean;
}

/** Nothing but tokens. */
export const ONLY_TOKENS = (): ToolUnits => ({});

type CallBounds = (kind: string, tool: JsonObject) => Pick<AskedTool, 'most' | 'isBoundable'>;

export const UNBOUNDED = { most: Number.POSITIVE_INFINITY, isBoundable: false } as const;

/**
 * The tools of a dialect among those of a request, and the `own` ones of a provider in any dialect. A type that no row
 * knows may be billed anything.
 */
export function askedAmong(
  tools: readonly Tool[],
  dialect: HostedTool['dialect'],
  rows: readonly ToolRow[],
  boundsOf: CallBounds,
  own?: readonly string[],
): readonly AskedTool[] {
  let asked: AskedTool[] | undefined;
  for (const tool of tools) {
    if (tool.type !== 'hosted') continue;
    if (tool.dialect !== dialect && own?.includes(tool.kind) !== true) continue;
    const found = askedTool(tool.kind, tool.value, rows, boundsOf);
    if (found === undefined) continue;
    asked ??= [];
    asked.push(found);
  }
  return asked ?? NO_TOOLS_ASKED;
}

/** One tool by its type; undefined = the caller or the gateway runs it. */
export function askedTool(
  kind: string,
  value: JsonObject,
  rows: readonly ToolRow[],
  boundsOf: CallBounds,
): AskedTool | undefined {
  const row = rows.find(({ type }) => type.test(kind));
  if (row === undefined) return { kind, ...boundsOf(kind, value) };
  const units = row.units?.(value);
  if (units === undefined) return undefined;
  return { kind, units, ...(row.isOnce === true && { isOnce: true }), ...boundsOf(kind, value) };
}
