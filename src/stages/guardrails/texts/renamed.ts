/**
 * The object with some of its members under other names: a name that is taken already gets a number, so that no member
 * is lost.
 */
export function renamed<T>(
  object: Readonly<Record<string, T>>,
  names: ReadonlyMap<string, string>,
): Record<string, T> {
  const entries = new Map<string, T>();
  const kept = new Set(Object.keys(object).filter((name) => !names.has(name)));
  for (const [name, value] of Object.entries(object)) {
    const changed = names.get(name);
    let free = changed ?? name;
    for (let count = 2; changed !== undefined && (entries.has(free) || kept.has(free)); count++) {
      free = `${changed}_${count}`;
    }
    entries.set(free, value);
  }
  // A member may be called `__proto__`, which an assignment would not make.
  return Object.fromEntries(entries);
}
