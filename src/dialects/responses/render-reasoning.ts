import { conversationForm } from '../../ir/format-facts.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Effort, ReasoningSettings } from '../../ir/settings.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { compact, membersBeyond, objectAt } from '../../kit/json/members.ts';
import type { RenderTarget } from '../dialect.ts';
import {
  effortNearest,
  effortOf,
  effortWithin,
  nearestEffortDetail,
  thinkingLimit,
} from '../shared/reasoning/reasoning-effort.ts';
import { effortName } from '../shared/reasoning/reasoning-names.ts';
import { REASONING_FIELDS } from '../shared/reasoning/reasoning-schema.ts';
import type { Report } from '../shared/report/report.ts';

/** The reasoning settings in this dialect; undefined if there is nothing to set. */
export function renderReasoning(
  request: GenerationRequest,
  target: RenderTarget,
  report: Report,
): JsonObject | undefined {
  const settings = request.reasoning;
  if (settings === undefined) return undefined;
  const effort = renderEffort(request, settings, target, report);
  const rendered = compact({
    effort: effort ?? settings.otherEffort,
    summary: settings.summary ?? impliedSummary(request),
    context: settings.context,
    mode: settings.mode,
  });
  return Object.keys(rendered).length > 0 ? rendered : undefined;
}

/** Formats that show thoughts by default imply a summary: this dialect shows nothing else, and only on request. */
function impliedSummary(request: GenerationRequest): string | undefined {
  const { reasoning } = request;
  const shows =
    reasoning?.display !== 'omitted' && reasoning?.exclude !== true && effortOf(reasoning) !== 'none';
  return conversationForm(request.formatFacts).reasoning.showsThoughtsIfAsked === true && shows
    ? 'auto'
    : undefined;
}

// --- By effort ------------------------------------------------------------------------------------------------------

const HIGHEST_EFFORT: Effort = 'xhigh';

/** This dialect takes an effort, and no budget beside it. */
function renderEffort(
  request: GenerationRequest,
  settings: ReasoningSettings,
  target: RenderTarget,
  report: Report,
): Effort | undefined {
  const { budgetTokens, enabled, adaptive } = settings;
  const effort = nearestEffort(request, target, report);
  if (adaptive === true) {
    const sent = effort === undefined ? 'its own default' : `effort ${effort}`;
    report.coerced(report.name('reasoning', '.type'), `the upstream thinks as much as ${sent} makes it`);
  }
  if (enabled === false && effort !== 'none') {
    report.dropped(report.name('reasoning', '.enabled'), `effort ${effort} was asked for too, and is sent`);
  }
  if (budgetTokens === undefined) return effort;
  const name = conversationForm(request.formatFacts).reasoning.places.budgetTokens;
  if (effort !== undefined) {
    report.dropped(name, `the upstream takes no budget; effort ${effort} is sent`);
    return effort;
  }
  const limit = thinkingLimit(request, target);
  const nearest = effortNearest(budgetTokens, limit);
  report.coerced(name, `a budget of ${budgetTokens} tokens sent as effort ${nearest}`);
  return nearest;
}

function nearestEffort(request: GenerationRequest, target: RenderTarget, report: Report): Effort | undefined {
  const effort = effortOf(request.reasoning);
  const known = effort === undefined ? undefined : effortWithin(effort, HIGHEST_EFFORT, target);
  if (known !== undefined && known !== effort) {
    report.coerced(effortName(request), nearestEffortDetail(known));
  }
  return known;
}

// --- Relay lane -----------------------------------------------------------------------------------------------------

/** Members of `reasoning` that only the gateway knows. */
const GATEWAY_REASONING_FIELDS = ['max_tokens', 'enabled', 'exclude'];

/** Relay lane: the caller's own settings without those that only the gateway knows. */
export function relayReasoning(
  request: GenerationRequest,
  target: RenderTarget,
  report: Report,
): JsonObject | undefined {
  const given = objectAt(request.body, 'reasoning');
  if (given === undefined) return given;
  if (!GATEWAY_REASONING_FIELDS.some((name) => Object.hasOwn(given, name))) {
    const effort = nearestEffort(request, target, report);
    return effort === request.reasoning?.effort ? given : { ...given, effort };
  }
  const unknown = membersBeyond(given, REASONING_FIELDS) ?? {};
  return { ...renderReasoning(request, target, report), ...unknown };
}
