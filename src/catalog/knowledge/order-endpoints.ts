import { parsePrice } from '../../kit/money.ts';
import type { KnownEndpoint, KnownModel } from './known-model.ts';
import { priceAt } from './merge-models.ts';

/** Endpoints in the order of lists: the model's home provider first, then by price. */
export function orderEndpoints({ home, endpoints }: KnownModel, nowMs: number): KnownEndpoint[] {
  const ranked = endpoints.map((endpoint) => ({
    endpoint,
    homeRank: endpoint.provider === home ? 0 : 1,
    price: tokenPrice(endpoint, nowMs),
  }));
  ranked.sort(
    (one, other) =>
      one.homeRank - other.homeRank ||
      sign(one.price - other.price) ||
      (one.endpoint.tag < other.endpoint.tag ? -1 : 1),
  );
  return ranked.map(({ endpoint }) => endpoint);
}

function tokenPrice(endpoint: KnownEndpoint, nowMs: number): bigint {
  const { prompt, completion } = priceAt(endpoint, nowMs);
  return (parsePrice(String(prompt)) ?? 0n) + (parsePrice(String(completion)) ?? 0n);
}

function sign(value: bigint): number {
  return value < 0n ? -1 : value > 0n ? 1 : 0;
}
