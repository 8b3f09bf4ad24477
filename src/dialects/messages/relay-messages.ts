import type { JsonObject } from '../../kit/json/json.ts';
import type { Report } from '../shared/report/report.ts';
import { withoutForeignTraces } from './foreign-traces.ts';
import { withPairedResults } from './paired-results.ts';
import { withoutSystemTurns } from './system-turns.ts';
import type { WireMessage } from './wire.ts';

/** The caller's own messages as an upstream takes them. */
export interface RelayedMessages {
  /** Blocks that the caller wrote into the list and that belong to the system prompt. */
  readonly system: readonly JsonObject[];
  /** The very same list when nothing in it must change. */
  readonly messages: JsonObject[];
}

/** What must change in the caller's own list before an upstream of this dialect may see it. */
export function relayMessages(given: readonly WireMessage[], report: Report): RelayedMessages {
  const placed = given.map((message, index) => ({ message, index }));
  const paired = withPairedResults(placed, report);
  const cleaned = withoutForeignTraces(paired, report);
  const { system, messages } = withoutSystemTurns(cleaned, report);
  const isSame =
    messages.length === given.length && messages.every(({ message }, at) => message === given[at]);
  const sent = isSame ? given : messages.map(({ message }) => message);
  return { system, messages: sent as unknown as JsonObject[] };
}
