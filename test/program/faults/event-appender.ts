/** What a process that appends events is made of. */
export { DuckdbEventStore } from '../../../src/store/events/duckdb/event-store.ts';
export { eventHistory } from '../../kit/builders/event-history.ts';
