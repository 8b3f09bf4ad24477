/**
 * Waits for work up to a time limit: true if it is done by then. Rejects if the work rejects before.
 */
export function isInTime(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds, false);
    work.then(
      () => {
        clearTimeout(timer);
        resolve(true);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
