/** Runs asynchronous work for each element, for at most `atOnce` of them at the same time; results in their order. */
export async function mapAtOnce<T, R>(
  list: readonly T[],
  atOnce: number,
  work: (element: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(list.length);
  let next = 0;
  const workOn = async () => {
    while (next < list.length) {
      const index = next++;
      results[index] = await work(list[index] as T, index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, list.length) }, workOn));
  return results;
}
