import type { JsonObject } from '../kit/json/json.ts';
import type { DialectName, ReasoningItem, ToolCallItem } from './items.ts';
import type { Effort, ReasoningSettings, RequestField } from './settings.ts';

/**
 * What is particular to the format that a request came in, for code that renders or changes requests of any format.
 * Each request carries the facts of its format, so that this code asks them and never compares names of formats.
 */
export interface FormatFacts {
  /** Names of request fields, where they differ from those of the responses format. */
  readonly fieldNames: Readonly<Partial<Record<RequestField, string>>>;
  /** Absent = requests of the format have no conversation: it is the format of embeddings. */
  readonly conversation?: ConversationForm;
}

/** Facts about conversations. Throws for a format without them: call it only for requests that have one. */
export function conversationForm({ conversation }: FormatFacts): ConversationForm {
  if (conversation === undefined) throw new Error('requests of this format have no conversation');
  return conversation;
}

/** True if callers learn that an upstream has paused its turn, and continue it themselves. */
export function showsPauses({ conversation }: FormatFacts): boolean {
  return conversation?.showsPauses === true;
}

export interface ConversationForm {
  /** Fields that hold the output limit, the one that more upstreams know first. */
  readonly limitFields: readonly [usual: string, newer?: string];
  /** Log probabilities are asked for in `include`, not by a field of their own. */
  readonly asksLogprobsInInclude?: boolean;
  /** The format has a name and a description beside the schema of an answer. */
  readonly namesSchemas: boolean;
  /** The format has items for all server tools, and these show images that were made. */
  readonly showsServerCalls?: boolean;
  /** Answers may end with a turn that the upstream has paused: callers send it back, and the upstream goes on. */
  readonly showsPauses?: boolean;
  /** The format has tools of MCP servers, with items for calls and approvals. */
  readonly hasMcpItems?: boolean;
  /** The member of a body that lists MCP servers beside its tools. */
  readonly mcpServersField?: string;
  /** How a body asks for searches of the web beside its tools. */
  readonly searchOptions?: SearchOptions;
  /** Path from the output format to what is said about a schema. */
  readonly schemaPath: string;
  /** Path from the tool choice to the list of allowed tools. */
  readonly allowedToolsPath: string;
  /** Tools are strict only with schemas that upstreams of Claude enforce. */
  readonly hasClaudeStrictTools?: boolean;
  /** The store that ids of files are looked up in. */
  readonly fileStore: 'openai' | 'anthropic';
  /** Answers may name the files that the gateway has parsed, so that a client sends their text next time. */
  readonly namesParsedFiles?: boolean;
  readonly reasoning: ReasoningForm;
  readonly seals: SealPlaces;
  readonly paths: MemberPaths;
}

/** A member of a body that asks for searches of the web. */
export interface SearchOptions {
  readonly field: string;
  readonly dialect: DialectName;
  /** The tool that asks for the same. */
  tool(options: JsonObject): JsonObject & { readonly type: string };
}

/** Reasoning settings that callers write in a body. `exclude` is not among them: the gateway itself acts on it. */
export type ReasoningSetting = Exclude<keyof ReasoningSettings, 'exclude'>;

/** Settings that every format has. One of them decides how much is thought. */
export type DecidingSetting = 'effort' | 'budgetTokens' | 'enabled';

export interface ReasoningForm {
  /** Paths of the settings in a body. */
  readonly places: Readonly<
    Record<DecidingSetting, string> & Partial<Record<Exclude<ReasoningSetting, DecidingSetting>, string>>
  >;
  /** Paths of everything that may ask for thinking. */
  readonly fields: readonly string[];
  /** A second, shorter field for the effort. */
  readonly shortEffortField?: string;
  /** The effort stands beside the field that asks for thinking, and does not ask for it by itself. */
  readonly hasSeparateEffort?: boolean;
  /** Not to think is the default, and clients write it out: it is no wish that can fail. */
  readonly isOffByDefault?: boolean;
  /** Without a budget the model decides how much it thinks. */
  readonly isAdaptiveWithoutBudget?: boolean;
  /** Thoughts are part of the answer only if thinking was asked for; then they are shown unless refused. */
  readonly showsThoughtsIfAsked?: boolean;
  withEffort(body: JsonObject, replaced: DecidingSetting, effort: Effort): JsonObject;
  /** The body without a budget that stands beside another setting. */
  withoutBudget(body: JsonObject): JsonObject;
}

export interface SealPlaces {
  /** The member of an item that holds its seal; undefined = it is spread over the members of a list. */
  memberOf(item: ReasoningItem | ToolCallItem): string | undefined;
  ofCall(callPath: string): string;
  /** Seals stand apart from what they were given with, so their order among texts is lost. */
  readonly losesOrder?: boolean;
  /** Reasoning format of a seal of a call that names none. */
  readonly callSealFormat?: string;
}

/** Paths of members below a part, a call or a tool, in the caller's body. */
export interface MemberPaths {
  /** A member of a part; `wrapper`: the object that some formats put it into. */
  inPart(wrapper: string, member: string): string;
  readonly filename: string;
  callInput(callPath: string): string;
  /** A member of what a tool declares. */
  inTool(tool: { readonly type: string }, member: string): string;
}
