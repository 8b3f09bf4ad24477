const VERSION = '/v1';

/**
 * Path of the base address that Anthropic clients want, empty for none: they add `/v1`, under which all routes answer,
 * themselves.
 */
export function anthropicBase(basePath: string): string {
  return basePath.endsWith(VERSION) ? basePath.slice(0, -VERSION.length) : '';
}
