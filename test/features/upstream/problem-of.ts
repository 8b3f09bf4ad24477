import { expect } from 'vitest';
import { TransportProblem } from '../../../src/net/http1/client/transport-problem.ts';

/** The problem that some work ends with. */
export async function problemOf(work: Promise<unknown>): Promise<TransportProblem> {
  const thrown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(TransportProblem);
  return thrown as TransportProblem;
}
