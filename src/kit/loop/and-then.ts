/**
 * Goes on with a value: at once where it is there already, so that a step that hardly ever waits costs no promise. In
 * an `async` function the same is `found instanceof Promise ? await found : found`.
 */
export function andThen<T, U>(value: T | Promise<T>, goOn: (value: T) => U | Promise<U>): U | Promise<U> {
  return value instanceof Promise ? value.then(goOn) : goOn(value);
}

/** The value of a step that may fail, at once or later: `mend` then makes one, or throws. */
export function orElse<T>(
  step: () => T | Promise<T>,
  mend: (failure: unknown) => T | Promise<T>,
): T | Promise<T> {
  try {
    const value = step();
    return value instanceof Promise ? value.catch(mend) : value;
  } catch (failure) {
    return mend(failure);
  }
}
