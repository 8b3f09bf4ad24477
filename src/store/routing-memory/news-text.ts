import { isJsonObject } from '../../kit/json/json.ts';
import type { ReceivedNews, RoutingNews } from '../../ports/routing-memory.ts';

/** News as a store keeps it; null = there is none. */
export function newsText(news: RoutingNews): string | null {
  return news.health.length + news.movedPins.length === 0 ? null : JSON.stringify(news);
}

/** News from its text; none if it is not of a form that this version knows. */
export function newsFromText(text: string, ageMs: number): ReceivedNews[] {
  try {
    const news: unknown = JSON.parse(text);
    if (!isJsonObject(news) || !Array.isArray(news.health) || !Array.isArray(news.movedPins)) return [];
    return [{ ...(news as unknown as RoutingNews), ageMs: Math.max(0, ageMs) }];
  } catch {
    return [];
  }
}
