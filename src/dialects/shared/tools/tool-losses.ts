import { conversationForm } from '../../../ir/format-facts.ts';
import type { CallableTool, GenerationRequest, ToolChoice } from '../../../ir/request.ts';
import { toolGroupPlace, toolMemberPlace } from '../report/caller-places.ts';
import type { Report } from '../report/report.ts';
import { type FlatNames, identityOf } from './tool-names.ts';

export interface ToolLossContext {
  readonly request: GenerationRequest;
  readonly report: Report;
  /** The upstream's names of the request's tools. */
  readonly names: FlatNames;
}

/** Reports the losses of a tool as a plain function. `whyLoose`: why its schema is not enforced; undefined = it is. */
export function reportToolLosses(
  tool: CallableTool,
  { report, names }: ToolLossContext,
  whyLoose: string | undefined,
): void {
  const place = (member: string) => toolMemberPlace(tool, member, report);
  const { namespace } = tool;
  const plainName = namespace === undefined ? tool.name : `${namespace.name}__${tool.name}`;
  const flatName = names.nameOf(identityOf(tool));
  if (flatName !== plainName) report.renamed(place('name'), `the upstream knows it as ${flatName}`);
  if (tool.type === 'custom' && tool.format !== undefined && tool.format.type !== 'text') {
    report.coerced(place('format'), 'the grammar became part of the description of a string argument');
  }
  if (tool.type === 'function' && tool.strict === true && whyLoose !== undefined) {
    report.dropped(place('strict'), whyLoose);
  }
  if (namespace?.description !== undefined && namespace.description !== '') {
    report.dropped(`${toolGroupPlace(tool, report)}.description`, 'the upstream has no groups of tools');
  }
}

/** Why a strict tool of another format is not strict at upstreams that enforce only some schemas. */
export function whyLooseUnlessOwn({ formatFacts }: GenerationRequest): string | undefined {
  return conversationForm(formatFacts).hasClaudeStrictTools === true
    ? undefined
    : 'the upstream enforces fewer kinds of schemas than this tool may have';
}

/** Without tools a tool choice is lost, unless it leaves the model free not to call any. */
export function reportLostChoice(choice: ToolChoice | undefined, detail: string, report: Report): void {
  const isForced =
    choice?.mode === 'allowed' ? choice.required : choice !== undefined && !FREE.has(choice.mode);
  if (isForced) report.dropped(report.name('toolChoice'), detail);
}

const FREE: ReadonlySet<ToolChoice['mode']> = new Set(['auto', 'none']);
