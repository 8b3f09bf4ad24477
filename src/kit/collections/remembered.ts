/** Memoizes a pure function of a text, for the first `most` texts; others are computed every time. */
export function remembered<T>(most: number, make: (text: string) => T): (text: string) => T {
  const made = new Map<string, T>();
  return (text) => {
    const known = made.get(text);
    if (known !== undefined) return known;
    const value = make(text);
    if (made.size < most) made.set(text, value);
    return value;
  };
}
