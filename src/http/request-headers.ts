/** All values of a header, in order; `name` in lower case. */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const written = rawHeaders[index];
    // Most names differ in length: those need not be put in lower case to be told apart.
    if (written?.length !== name.length || written.toLowerCase() !== name) continue;
    values.push(rawHeaders[index + 1] ?? '');
  }
  return values;
}
