/**
 * Waits for work, but no longer than so many milliseconds: true when it was done by then. Rejects as the work does.
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
