import type { Sliced } from '../../../kit/loop/turns.ts';
import type { GuardrailScan } from '../guardrail-scan.ts';
import { mapTexts } from '../texts/map-texts.ts';

/** The value with every text that comes whole as `read` returns it. `member`: the name of the first member with it. */
export function* mapReceived<T>(
  value: T,
  scan: GuardrailScan,
  read: (text: string, member: string) => Sliced<string>,
): Sliced<T> {
  const members = new Map<string, string>();
  mapTexts(value, (text, member) => {
    scan.countReceived(text.length);
    if (!members.has(text)) members.set(text, member);
    return text;
  });
  const passed = new Map<string, string>();
  for (const [text, member] of members) passed.set(text, yield* read(text, member));
  return mapTexts(value, (text) => passed.get(text) ?? text);
}
