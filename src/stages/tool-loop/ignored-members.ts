import { Report } from '../../dialects/shared/report/report.ts';
import { invalidRequest } from '../../ir/errors.ts';
import { conversationForm } from '../../ir/format-facts.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { unreadMembers } from '../../kit/json/unread-members.ts';
import { UNKNOWN_FIELD } from '../../kit/json/validate.ts';
import { parameterIssues } from '../../tools/parameter-issues.ts';
import type { ToolSettings } from '../../tools/server-tool.ts';
import type { WantedTool } from '../../tools/wanted-tools.ts';

/** The request with a report on members that have no effect; `note` reports them. */
export function withReported(request: GenerationRequest, note: (report: Report) => void): GenerationRequest {
  const report = new Report(request);
  note(report);
  if (report.entries.length === 0) return request;
  return { ...request, ignoredMembers: [...(request.ignoredMembers ?? []), ...report.entries] };
}

/**
 * Refuses hosted tools with members of the wrong form that the gateway would have to carry out. Formats check only the
 * types that they document.
 */
export function refuseMisfits({ places }: GenerationRequest, wanted: readonly WantedTool[]): void {
  const issues = wanted.flatMap(({ of, tool, parameters, hostedAs }) => {
    const { hostedMembers } = tool;
    if (hostedAs === undefined || hostedMembers === undefined) return [];
    return parameterIssues(tool, parameters)
      .filter(
        ({ path, message }) =>
          message !== UNKNOWN_FIELD && Object.hasOwn(hostedMembers, path.split(/[.[]/, 1)[0] ?? ''),
      )
      .map(({ path, message }) => ({ path: `${places.of(of) ?? 'tools'}.${path}`, message }));
  });
  if (issues.length > 0) throw invalidRequest(issues);
}

/** Members of every hosted tool that have an effect wherever it runs. */
const COMMON_MEMBERS = { type: true, name: true, cache_control: true } as const;

/** The request with a report on its server tools: on members without effect, and on tools whose calls callers get. */
export function withIgnoredMembers(
  request: GenerationRequest,
  wanted: readonly WantedTool[],
  settings: ToolSettings,
): GenerationRequest {
  return withReported(request, (report) => {
    for (const { of, tool, parameters, hostedAs } of wanted) {
      const inside = hostedAs === undefined ? 'parameters.' : '';
      for (const name of tool.unused?.(parameters, settings, conversationForm(request.formatFacts)) ?? []) {
        report.ignored(report.place(of, 'tools', inside + name), 'has no effect here');
      }
      if (hostedAs === undefined || tool.hostedMembers === undefined) continue;
      if (tool.endsAnswer === true) report.coerced(report.place(of, 'tools'), 'became a function');
      for (const path of unreadMembers(of.value, { ...COMMON_MEMBERS, ...tool.hostedMembers })) {
        report.ignored(report.place(of, 'tools', path), 'has no effect: the gateway runs the tool itself');
      }
    }
  });
}
