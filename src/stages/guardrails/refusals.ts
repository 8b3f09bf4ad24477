import { GatewayError } from '../../ir/errors.ts';
import type { PipelineEntry } from '../../ir/metadata.ts';
import { countText } from '../../kit/text/count-text.ts';
import type { FilterAction } from '../../ports/tenancy/guardrails.ts';
import type { Finding, TextPlace } from './filters/finding.ts';
import type { Judge, JudgeFailure } from './judges/judge.ts';

export interface PlacedFinding {
  readonly finding: Finding;
  readonly direction: TextPlace['direction'];
}

const ACTION_WORDS: Readonly<Record<FilterAction, string>> = {
  block: 'blocked',
  redact: 'redacted',
  flag: 'flagged',
};

const STAGE_NAMES: Readonly<Record<Finding['kind'], string>> = {
  'prompt-injection': 'regex_pi_detection',
  'content-filter': 'content-filter',
  'unfinished-scan': 'content-filter',
};
const UNFINISHED = 'custom patterns could not read all of a text within their limit of work';
const SERVICE_STAGE_NAME = 'guardrail-service';

function stageNameOf(engine: Finding['engine'], kind: Finding['kind']): string {
  return engine === 'service' ? SERVICE_STAGE_NAME : STAGE_NAMES[kind];
}

/** Entries of `patterns`, and characters of each. */
const MAX_PATTERNS = 20;
const MAX_PATTERN_CHARACTERS = 200;

/**
 * The entries of the pipeline for what was found: one for each guardrail, kind, action and direction. `isAdded`: what
 * is sent was none of the caller's.
 */
export function pipelineEntries(found: readonly PlacedFinding[], isAdded = false): PipelineEntry[] {
  const groups = new Map<string, PlacedFinding[]>();
  for (const each of found) {
    const { guardrailId, kind, action, engine } = each.finding;
    const key = [guardrailId, kind, action, engine, each.direction].join(' ');
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [each]);
    else group.push(each);
  }
  return [...groups.values()].map((group) => entryOf(group, isAdded));
}

function entryOf(group: readonly PlacedFinding[], isAdded: boolean): PipelineEntry {
  const [{ finding, direction }] = group as [PlacedFinding];
  const action = ACTION_WORDS[finding.action];
  const patterns = patternsOf(group);
  const matched = countText(group.length, 'match', 'matches');
  const what = {
    'prompt-injection': `prompt injection detected (${countText(patterns.length, 'pattern')} matched)`,
    'content-filter': `${patterns.join(', ')} (${matched})`,
    'unfinished-scan': UNFINISHED,
  }[finding.kind];
  return {
    type: 'guardrail',
    name: stageNameOf(finding.engine, finding.kind),
    summary: `${action.charAt(0).toUpperCase()}${action.slice(1)}: ${what}`,
    guardrail_id: finding.guardrailId,
    guardrail_scope: finding.scope,
    data: {
      action,
      detected: finding.kind !== 'unfinished-scan',
      engines: [finding.engine],
      patterns,
      direction,
      ...(isAdded && direction === 'sent' && { added: true }),
    },
  };
}

/** The matched text of injections; for personal data the names of the filters, never the data itself. */
function patternsOf(group: readonly PlacedFinding[]): string[] {
  const texts = group.map(({ finding }) =>
    (finding.kind === 'prompt-injection' ? finding.text : finding.label).slice(0, MAX_PATTERN_CHARACTERS),
  );
  return [...new Set(texts)].slice(0, MAX_PATTERNS);
}

/** The refusal for findings of which at least one blocks. */
export function blockedError(found: readonly PlacedFinding[]): GatewayError {
  const blocking = found.filter(({ finding }) => finding.action === 'block');
  const first = blocking[0];
  if (first === undefined) throw new Error('nothing blocks');
  const { kind, engine, guardrailId } = first.finding;
  if (kind === 'unfinished-scan') {
    const metadata = { reason: 'unfinished_scan', guardrail_id: guardrailId };
    return new GatewayError('permission', messageOf(first), { metadata });
  }
  const alike = blocking.filter(({ finding }) => finding.kind === kind && finding.engine === engine);
  return new GatewayError('permission', messageOf(first), { metadata: { patterns: patternsOf(alike) } });
}

function messageOf({ finding, direction }: PlacedFinding): string {
  const subject = direction === 'sent' ? 'Request' : 'Response';
  if (finding.kind === 'prompt-injection') return `${subject} blocked: prompt injection patterns detected`;
  if (finding.kind === 'unfinished-scan') {
    return `${subject} blocked: ${UNFINISHED}; shorten the text, or simplify the patterns of the guardrail`;
  }
  if (finding.engine === 'nlp') return `Blocked PII detected: ${finding.label}`;
  if (finding.engine === 'service') return `${subject} blocked by guardrail service: ${finding.label}`;
  return `${subject} blocked by content filter: ${finding.label}`;
}

/** The entry of the pipeline for a service that gave no verdict. */
export function failureEntry(
  { engine, guardrailId, scope, onFailure }: Judge,
  direction: TextPlace['direction'],
  { message }: JudgeFailure,
): PipelineEntry {
  const action = onFailure === 'closed' ? 'refused' : 'passed';
  const consequence = onFailure === 'closed' ? 'nothing may pass without it' : 'passed without it';
  return {
    type: 'guardrail',
    name: stageNameOf(engine, 'content-filter'),
    summary: `No verdict, ${consequence}: ${message}`,
    guardrail_id: guardrailId,
    guardrail_scope: scope,
    data: { action, detected: false, engines: [engine], patterns: [], direction, failure: message },
  };
}

/** 503 for texts that may not pass without the verdict of a service: they may later. */
export function noVerdictError({ guardrailId }: Judge, { message }: JudgeFailure): GatewayError {
  return new GatewayError('overloaded', `The guardrail service gave no verdict: ${message}`, {
    metadata: { guardrail_id: guardrailId },
  });
}
