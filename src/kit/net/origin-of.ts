import { urlOf } from './url-of.ts';

export function originOf(address: string | null): string | null {
  const url = address === null ? undefined : urlOf(address);
  if (url === undefined) return null;
  const { origin } = url;
  return origin === 'null' ? null : origin;
}
