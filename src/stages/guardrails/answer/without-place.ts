import type { Event } from '../../../ir/events.ts';

/** An annotation without its place in a text that is no longer the same; none if its place cannot be told apart. */
export function withoutPlace(event: Event): Event[] {
  if (event.type !== 'annotation') return [event];
  if (event.annotation.type !== 'url-citation') return [];
  const { startIndex: _, endIndex: __, ext: ___, ...annotation } = event.annotation;
  return [{ ...event, annotation }];
}
