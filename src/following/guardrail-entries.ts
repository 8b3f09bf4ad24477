import type { JsonObject } from '../kit/json/json.ts';
import { objectAt, objectsAt } from '../kit/json/members.ts';

export function guardrailEntries(row: JsonObject): JsonObject[] {
  return objectsAt(objectAt(row, 'routing'), 'pipeline').filter(
    ({ type, data }) => type === 'guardrail' || objectAt({ data }, 'data')?.flagged !== undefined,
  );
}

/** True if a text was refused: then nothing that was said is sent. */
export function isBlocked(row: JsonObject): boolean {
  return guardrailEntries(row).some((entry) => {
    const { action, flagged } = objectAt(entry, 'data') ?? {};
    return flagged === true || action === 'blocked' || action === 'refused';
  });
}
