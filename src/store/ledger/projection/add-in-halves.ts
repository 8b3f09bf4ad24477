import { GenerationRefused } from '../../../ports/generations/generations.ts';

/** Adds a batch. If it is refused, halves it until the refused items are found, and leaves those out. */
export async function addInHalves<Item>(
  batch: readonly Item[],
  add: (items: readonly Item[]) => Promise<void>,
  leaveOut: (item: Item, refusal: GenerationRefused) => void,
): Promise<void> {
  try {
    await add(batch);
  } catch (error) {
    if (!(error instanceof GenerationRefused)) throw error;
    const [first] = batch;
    if (first !== undefined && batch.length === 1) return leaveOut(first, error);
    const half = batch.length >> 1;
    await addInHalves(batch.slice(0, half), add, leaveOut);
    await addInHalves(batch.slice(half), add, leaveOut);
  }
}
