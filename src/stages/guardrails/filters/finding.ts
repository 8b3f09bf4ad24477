import { FILTER_ACTIONS, type FilterAction, type GuardrailScope } from '../../../ports/tenancy/guardrails.ts';

export interface TextPlace {
  /** Role of the message that the text belongs to; `user` for a prompt without messages. */
  readonly role: string;
  readonly direction: 'sent' | 'received';
}

export interface FindingSource {
  /** The built-in filter's slug, the injection pattern's name, or the label of a custom filter. */
  readonly name: string;
  /** For people: `Email address`, or the label of a custom filter. */
  readonly label: string;
  /** Stands in place of the text if it is redacted. */
  readonly redaction: string;
  readonly action: FilterAction;
  readonly engine: 'regex' | 'nlp' | 'service';
  /** `unfinished-scan`: custom patterns could not read all of the text within their budget of work. */
  readonly kind: 'content-filter' | 'prompt-injection' | 'unfinished-scan';
  readonly guardrailId: string;
  readonly scope: GuardrailScope;
}

/** A place of a text that a filter matches. */
export interface Finding extends FindingSource {
  /** First UTF-16 unit in the original text, and the one after the last. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Written out: a text may have a million findings, and copying the members of an object by a spread is slow. */
export function findingAt(source: FindingSource, start: number, end: number, text: string): Finding {
  const { name, label, redaction, action, engine, kind, guardrailId, scope } = source;
  return { name, label, redaction, action, engine, kind, guardrailId, scope, start, end, text };
}

/**
 * The finding for a text that filters could not read to its end. The strictest of them decides: what it would
 * block or redact must not pass unread, and what it would only flag may.
 */
export function unfinishedAt(sources: readonly FindingSource[], position: number): Finding {
  const strictest = FILTER_ACTIONS.flatMap((action) =>
    sources.filter((source) => source.action === action),
  )[0];
  if (strictest === undefined) throw new Error('no filter is unfinished');
  const action = strictest.action === 'flag' ? 'flag' : 'block';
  const source = { ...strictest, name: 'unfinished-scan', label: UNFINISHED_LABEL, action } as const;
  return findingAt({ ...source, kind: 'unfinished-scan', redaction: '' }, position, position, '');
}

const UNFINISHED_LABEL = 'Custom patterns that take too long';

/** A span of a text and what stands there instead. */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly redaction: string;
}

function inOrder(left: Replacement, right: Replacement): number {
  return left.start - right.start || right.end - left.end || (left.redaction < right.redaction ? -1 : 1);
}

/** The spans to be redacted, in order. Spans that overlap become one, with the redaction of the first. */
export function replacementsOf(findings: Iterable<Finding>): Replacement[] {
  const spans: Finding[] = [];
  let isInOrder = true;
  for (const finding of findings) {
    if (finding.action !== 'redact') continue;
    const last = spans[spans.length - 1];
    if (last !== undefined && finding.start <= last.start) isInOrder = false;
    spans.push(finding);
  }
  if (!isInOrder) spans.sort(inOrder);
  const replacements: { start: number; end: number; redaction: string }[] = [];
  for (const { start, end, redaction } of spans) {
    const last = replacements[replacements.length - 1];
    if (last !== undefined && start < last.end) last.end = Math.max(last.end, end);
    else replacements.push({ start, end, redaction });
  }
  return replacements;
}

export function redacted(text: string, findings: Iterable<Finding>): string {
  return replaced(text, 0, replacementsOf(findings));
}

/** `text` begins at a position of the text that the replacements belong to. */
export function replaced(text: string, base: number, replacements: readonly Replacement[]): string {
  let result = '';
  let copied = 0;
  for (const { start, end, redaction } of replacements) {
    result += text.slice(copied, start - base) + redaction;
    copied = end - base;
  }
  return result + text.slice(copied);
}
