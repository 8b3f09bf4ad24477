/** Globals that Node makes when they are first asked for, of which every request uses some. */
const LAZY = ['AbortController', 'AbortSignal', 'Buffer', 'performance', 'process'] as const;

/**
 * Makes globals values like any other. As Node has them, each use asks again whether they were made already, and no
 * compiler sees through that: it came to a thirtieth of what a request costs.
 */
export function usePlainGlobals(): void {
  for (const name of LAZY) {
    Object.defineProperty(globalThis, name, {
      value: globalThis[name],
      writable: true,
      configurable: true,
      enumerable: false,
    });
  }
}
