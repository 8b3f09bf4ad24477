import type { GenerationEvent } from '../../ports/events/events.ts';

/** Events without those whose id an earlier one has. */
export function firstOfEach(events: readonly GenerationEvent[]): readonly GenerationEvent[] {
  const byId = new Map<string, GenerationEvent>();
  for (const event of events) if (!byId.has(event.id)) byId.set(event.id, event);
  return byId.size === events.length ? events : [...byId.values()];
}
