import { GatewayError } from '../../ir/errors.ts';
import type { Call } from '../route.ts';

/**
 * Asks something that may take long, with a signal that ends it when the caller goes away or its time is over: 408.
 */
export async function withinQueryTime<T>(
  { exchange, times }: Pick<Call, 'exchange' | 'times'>,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal } = exchange;
  const ending = new AbortController();
  const leave = (): void => ending.abort(signal.reason);
  const timer = setTimeout(() => ending.abort(tookTooLong()), times.queryMs);
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  try {
    return await ask(ending.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', leave);
  }
}

function tookTooLong(): GatewayError {
  return new GatewayError('deadline', 'Operation timed out. Please try again later.');
}
