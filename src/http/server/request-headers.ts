const NONE: readonly string[] = [];

/** All values of a header, in order; `name` in lower case. */
export function headerValues(rawHeaders: readonly string[], name: string): readonly string[] {
  let values = NONE;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const written = rawHeaders[index];
    // Most names differ in length: those need not be put in lower case to be told apart.
    if (written?.length !== name.length || written.toLowerCase() !== name) continue;
    const value = rawHeaders[index + 1] ?? '';
    // A list that is added to makes room for many: nearly always there is one.
    values = values.length === 0 ? [value] : [...values, value];
  }
  return values;
}
