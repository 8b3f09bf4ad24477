import { GatewayError } from '../ir/errors.ts';
import type { Call } from './route.ts';

/** Asks something that may take long, with a signal that ends it when the caller goes away or its time is over: 408. */
export async function withinQueryTime<T>(
  { exchange, times }: Pick<Call, 'exchange' | 'times'>,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(tookTooLong()), times.queryMs);
  try {
    return await ask(AbortSignal.any([exchange.signal, deadline.signal]));
  } finally {
    clearTimeout(timer);
  }
}

function tookTooLong(): GatewayError {
  return new GatewayError('deadline', 'Operation timed out. Please try again later.');
}
