import type { Event, EventBatch } from '../../../ir/events.ts';
import { runInTurns, type Sliced } from '../../../kit/loop/turns.ts';
import type { GuardrailScan } from '../guardrail-scan.ts';
import type { JudgedText } from '../judges/judge.ts';
import type { JudgePanel } from '../judges/judge-panel.ts';
import { mapTexts } from '../texts/map-texts.ts';
import { mapToolInput } from '../texts/tool-input.ts';

type ServerResult = Extract<Event, { type: 'server-result' }>;

/** The batch with the results of server tools as callers may get them. Look at `scan.isBlocked` afterwards. */
export async function scannedResults(
  batch: EventBatch,
  scan: GuardrailScan,
  panel: JudgePanel,
): Promise<EventBatch> {
  const scanned: Event[] = [];
  for (const event of batch) {
    scanned.push(event.type === 'server-result' ? await scannedResult(event, scan, panel) : event);
  }
  return scanned;
}

/** First the filters, then the services, which get every text once. */
async function scannedResult(
  event: ServerResult,
  scan: GuardrailScan,
  panel: JudgePanel,
): Promise<ServerResult> {
  const passed = await runInTurns(filteredTexts(textsOf(event), scan));
  const filtered = mappedResult(event, (text) => passed.get(text) ?? text);
  if (scan.isBlocked || panel.isEmpty) return filtered;
  const place = `output[${event.item}]`;
  const texts = [...textsOf(filtered)];
  const judged = texts.map((text): JudgedText => ({ text, role: 'tool', place }));
  const verdict = await panel.judge(judged, 'received');
  const released = new Map(texts.map((text, index) => [text, verdict.texts[index] ?? text]));
  return mappedResult(filtered, (text) => released.get(text) ?? text);
}

function* filteredTexts(texts: ReadonlySet<string>, scan: GuardrailScan): Sliced<Map<string, string>> {
  const passed = new Map<string, string>();
  for (const text of texts) passed.set(text, yield* scan.receivedText(text));
  return passed;
}

function textsOf(event: ServerResult): ReadonlySet<string> {
  const texts = new Set<string>();
  mappedResult(event, (text) => {
    texts.add(text);
    return text;
  });
  return texts;
}

function mappedResult(event: ServerResult, change: (text: string) => string): ServerResult {
  return {
    ...event,
    output: mapToolInput(event.output, change),
    shown: mapTexts(event.shown, change),
  };
}
