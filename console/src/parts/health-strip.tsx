import type { ServiceHistoryObject } from '../../../src/contract/gateway/provider-state.ts';
import { count } from '../format/numbers.ts';

/** Slot of a strip: well, some failed, half or more failed, no traffic. */
type SlotTone = 'o' | 'p' | 'q' | 'z';

/** A slot in which this share of calls failed is red. */
const BAD_SHARE = 0.5;

export function toneOf(calls: number, failures: number): SlotTone {
  if (calls === 0) return 'z';
  if (failures === 0) return 'o';
  return failures / calls >= BAD_SHARE ? 'q' : 'p';
}

/** Neighbours of one tone as one piece: first slot, number of slots, tone. */
export function piecesOf(tones: readonly SlotTone[]): { from: number; width: number; tone: SlotTone }[] {
  const pieces: { from: number; width: number; tone: SlotTone }[] = [];
  for (const [at, tone] of tones.entries()) {
    const last = pieces.at(-1);
    if (last?.tone === tone) last.width++;
    else pieces.push({ from: at, width: 1, tone });
  }
  return pieces;
}

/** Said beside health: the gateway counts calls in its memory. */
export const SINCE_START = 'since the last start';

/** Calls of the last day as a strip, newest at the right. Null = no calls. */
export function HealthStrip({ history }: { readonly history: ServiceHistoryObject | null }) {
  const calls = history?.calls ?? [0];
  const failures = history?.failures ?? [0];
  const tones = calls.map((each, slot) => toneOf(each, failures[slot] ?? 0));
  const text = `${count(sumOf(calls))} calls in 24 hours, ${count(sumOf(failures))} failed, ${SINCE_START}`;
  return (
    <svg
      class="up"
      viewBox={`0 0 ${tones.length} 16`}
      preserveAspectRatio="none"
      role="img"
      aria-label={text}
    >
      <title>{text}</title>
      {piecesOf(tones).map(({ from, width, tone }) => (
        <rect key={from} class={tone} x={from} y="0" width={width} height="16" />
      ))}
    </svg>
  );
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
