/**
 * The entry of a table under a name from outside. Plain indexing would also find what every object
 * inherits: `constructor`, `toString`, `__proto__`.
 */
export function lookUp<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
