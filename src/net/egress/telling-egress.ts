import type { Egress } from './egress.ts';

/** A way out whose calls of services have further headers. Fetches of pages have not: anyone may have named them. */
export function tellingEgress(egress: Egress, headers: Readonly<Record<string, string>>): Egress {
  return {
    fetch: (url, request) => egress.fetch(url, request),
    call: (url, request) => egress.call(url, { ...request, headers: { ...request.headers, ...headers } }),
  };
}
