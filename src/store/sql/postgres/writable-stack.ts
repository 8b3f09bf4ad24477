/**
 * Lets the stack of an error be written to, as Kysely does with what a driver throws. That of the driver's errors
 * cannot be since Node 22, where it is an accessor that the driver replaces: Kysely would throw an error of its own,
 * which does not show that the transaction is to be tried again.
 */
export function withWritableStack(error: unknown): unknown {
  const stack = error instanceof Error ? Object.getOwnPropertyDescriptor(error, 'stack') : undefined;
  if (stack?.writable === false) Object.defineProperty(error, 'stack', { writable: true });
  return error;
}
