import type { RoutingMetadata } from '../../ir/metadata.ts';
import { boundedJson } from '../../kit/json/bounded-json.ts';
import type { JsonObject } from '../../kit/json/json.ts';

/** Entries that are kept of the lists of a routing explanation; `endpoints.total` and `summary` still count all. */
const MOST_AVAILABLE = 16;
const MOST_ENTRIES = 32;

const BOUNDS = { characters: 256, entries: MOST_ENTRIES, depth: 6 };

/** The routing metadata of a generation as its row keeps it, bounded whatever the request was. */
export function keptRouting(metadata: RoutingMetadata): JsonObject {
  const { endpoints } = metadata;
  const cut =
    endpoints.available.length <= MOST_AVAILABLE
      ? metadata
      : { ...metadata, endpoints: { ...endpoints, available: leading(endpoints.available) } };
  return boundedJson(cut as unknown as JsonObject, BOUNDS) as JsonObject;
}

/** The first ones, and the selected one whatever its place. */
function leading(available: RoutingMetadata['endpoints']['available']) {
  const first = available.slice(0, MOST_AVAILABLE);
  const selected = available.slice(MOST_AVAILABLE).filter((endpoint) => endpoint.selected);
  return [...first.slice(0, MOST_AVAILABLE - selected.length), ...selected];
}
