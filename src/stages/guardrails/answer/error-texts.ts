import type { PipelineEntry } from '../../../ir/metadata.ts';
import type { ErrorTexts } from '../../../ir/wire-watch.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { ELLIPSIS, isCut } from '../../../upstream/call/failure.ts';
import { type Finding, redacted } from '../filters/finding.ts';
import type { GuardrailScan } from '../guardrail-scan.ts';
import type { JudgePanel } from '../judges/judge-panel.ts';
import { pipelineEntries } from '../refusals.ts';

/** Stands in place of every text of an error of which one is blocked, or may not pass without a verdict. */
export const WITHHELD = 'Provider returned error: its text was withheld by a guardrail';

/** Members of the metadata that hold the gateway's own words. */
const OWN_MEMBERS: ReadonlySet<string> = new Set(['provider_name', 'error_type']);

interface Guards {
  readonly scan: GuardrailScan;
  readonly panel: JudgePanel;
  readonly note: (entry: PipelineEntry) => void;
}

/**
 * The texts of an upstream's error as they may be passed on: filters and services treat them like an answer, except
 * that a block withholds the texts and leaves the status. They are no part of the receipt.
 */
export async function passedError(error: ErrorTexts, { scan, panel, note }: Guards): Promise<ErrorTexts> {
  const { message, metadata = {} } = error;
  const members = Object.keys(metadata).filter(
    (name) => typeof metadata[name] === 'string' && !OWN_MEMBERS.has(name),
  );
  const texts = [message, ...members.map((name) => metadata[name] as string)];
  const found: Finding[] = [];
  const filtered: string[] = [];
  for (const text of texts) filtered.push(await filteredText(text, scan, found));
  const judged = found.some(blocks)
    ? undefined
    : await judgedTexts(filtered, ['message', ...members], panel, found);
  for (const entry of pipelineEntries(found.map((finding) => ({ finding, direction: 'received' }))))
    note(entry);
  const passed = found.some(blocks) ? undefined : judged;
  if (passed?.every((text, index) => text === texts[index]) === true) return error;
  const changed: JsonObject = { ...metadata };
  for (const [index, name] of members.entries()) changed[name] = passed?.[index + 1] ?? WITHHELD;
  return { message: passed?.[0] ?? WITHHELD, metadata: error.metadata && changed };
}

function blocks({ action }: Finding): boolean {
  return action === 'block';
}

/** Escapes of JSON: an error that is quoted whole has them, once for each JSON text around it. */
const ESCAPE = /\\(?:u([\da-f]{4})|(.))/gis;
const MAX_NESTED_ESCAPES = 4;

/** The text after all filters. Where they find something that is written with escapes, these are resolved. */
async function filteredText(text: string, scan: GuardrailScan, found: Finding[]): Promise<string> {
  let passed = text;
  let read = text;
  for (let depth = 0; depth <= MAX_NESTED_ESCAPES; depth++) {
    const findings = await scan.findingsInError(read);
    const isChanged = findings.some(({ action }) => action !== 'flag');
    if (depth === 0 || isChanged) found.push(...findings);
    if (isChanged) passed = redacted(read, findings);
    const resolved = unescaped(isChanged ? passed : read);
    if (resolved === read) break;
    read = resolved;
  }
  if (!isCut(text)) return passed;
  if (!passed.endsWith(ELLIPSIS)) return scan.withoutOpenEnd(passed);
  return scan.withoutOpenEnd(passed.slice(0, -ELLIPSIS.length)) + ELLIPSIS;
}

const CONTROL_ESCAPES: Readonly<Record<string, string>> = { b: ' ', f: ' ', n: '\n', r: '\r', t: '\t' };

function unescaped(text: string): string {
  return text.replace(ESCAPE, (_, unit: string | undefined, character: string) =>
    unit === undefined
      ? (CONTROL_ESCAPES[character] ?? character)
      : String.fromCharCode(Number.parseInt(unit, 16)),
  );
}

/** The texts after all services; undefined = they may not pass without a verdict. */
async function judgedTexts(
  texts: readonly string[],
  members: readonly string[],
  panel: JudgePanel,
  found: Finding[],
): Promise<readonly string[] | undefined> {
  if (panel.isEmpty) return texts;
  const asked = texts.map((text, index) => ({ text, role: 'assistant', place: `error.${members[index]}` }));
  try {
    return (await panel.judge(asked, 'received', { found: (findings) => found.push(...findings) })).texts;
  } catch {
    // The service is down, or the caller has left.
    return undefined;
  }
}
