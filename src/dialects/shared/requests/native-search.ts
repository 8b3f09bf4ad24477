import type { Tool } from '../../../ir/request.ts';
import type { Json } from '../../../kit/json/json.ts';

export type HostedTool = Extract<Tool, { type: 'hosted' }>;

/** A web search that a plugin leaves to the upstream. Absent members limit nothing. */
export interface WantedSearch {
  /** Patterns of the domains that results may be from. */
  readonly allowed?: readonly string[] | undefined;
  /** `allowed` as plain hosts; absent also if hosts cannot express the patterns. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Patterns of the domains that no result may be from. */
  readonly blocked?: readonly string[] | undefined;
  readonly maxUses?: Json | undefined;
  readonly userLocation?: Json | undefined;
}

/** How the upstreams of a dialect search by themselves if a plugin asks for it. */
export interface NativeSearch {
  /** Members of the plugin that it takes. */
  readonly takes: ReadonlySet<string>;
  /** True if it searches beside tools that the caller runs. */
  readonly hasToolsBeside: boolean;
  /** True if the limit of tool calls is the only limit of searches. */
  readonly isBoundByToolCalls?: boolean;
  tool(search: WantedSearch): HostedTool;
}
