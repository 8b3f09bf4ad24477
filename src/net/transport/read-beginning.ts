export interface ReadLimits {
  readonly maxBytes: number;
  readonly maxMs: number;
}

/**
 * Reads the beginning of a small body (an error, a token) or of what comes after a response's end, within limits.
 * Never throws; closes the connection unless the body ended by itself.
 */
export async function readBeginning(chunks: AsyncIterator<Uint8Array>, limits: ReadLimits): Promise<string> {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  const timer = setTimeout(() => void chunks.return?.(), limits.maxMs);
  let text = '';
  let bytes = 0;
  try {
    while (bytes < limits.maxBytes) {
      const next = await chunks.next();
      if (next.done === true) break;
      decoder ??= new TextDecoder();
      text += decoder.decode(next.value.subarray(0, limits.maxBytes - bytes), { stream: true });
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
