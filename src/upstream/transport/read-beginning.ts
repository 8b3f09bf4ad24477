/** How much of a body is worth waiting for. */
export interface Patience {
  readonly maxBytes: number;
  readonly maxMs: number;
}

/**
 * The beginning of a body that matters little (an error, what comes after an answer's end): whatever arrives within
 * bounds. Never throws; closes the connection unless the body ended by itself.
 */
export async function readBeginning(chunks: AsyncIterator<Uint8Array>, patience: Patience): Promise<string> {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  const timer = setTimeout(() => void chunks.return?.(), patience.maxMs);
  let text = '';
  let bytes = 0;
  try {
    while (bytes < patience.maxBytes) {
      const next = await chunks.next();
      if (next.done === true) break;
      decoder ??= new TextDecoder();
      text += decoder.decode(next.value.subarray(0, patience.maxBytes - bytes), { stream: true });
      bytes += next.value.length;
    }
    await chunks.return?.();
  } catch {
    // What was read so far is all there is.
  } finally {
    clearTimeout(timer);
  }
  return text;
}
