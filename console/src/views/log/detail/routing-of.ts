import type { GenerationRecord, RoutingMetadata } from '../../../api/contract.ts';

/** The routing decision of a record; null in records without one. */
export function routingOf({ routing }: GenerationRecord): RoutingMetadata | null {
  return routing === null ? null : (routing as unknown as RoutingMetadata);
}
