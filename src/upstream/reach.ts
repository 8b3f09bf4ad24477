import { Agent, request } from 'undici';
import { socketProblem } from './socket-problem.ts';

/** Whether a server answers. */
export type Reach =
  | {
      readonly ok: true;
      readonly status: number;
      readonly milliseconds: number;
      /** How far its clock is ahead of that of this machine, milliseconds; undefined when it does not tell the time. */
      readonly clockAheadMs: number | undefined;
    }
  /** In words that name no address. */
  | { readonly ok: false; readonly problem: string };

/** Problem of a server that was too slow. */
export const NO_ANSWER = 'no answer within the time limit';

/** Asks a server for anything at all, without a credential and without following it anywhere. Never rejects. */
export async function reach(address: string, limitMs: number): Promise<Reach> {
  const agent = new Agent({ connect: { timeout: limitMs, rejectUnauthorized: true } });
  const signal = AbortSignal.timeout(limitMs);
  const beganAt = performance.now();
  const askedAtMs = Date.now();
  try {
    const { origin, pathname } = new URL(address);
    const { statusCode, headers, body } = await request(origin + pathname, { dispatcher: agent, signal });
    const milliseconds = performance.now() - beganAt;
    // An answer that is cut short says so in an event.
    body.on('error', () => {}).destroy();
    const toldMs = Date.parse(String(headers.date));
    return {
      ok: true,
      status: statusCode,
      milliseconds,
      clockAheadMs: Number.isNaN(toldMs) ? undefined : toldMs - (askedAtMs + milliseconds / 2),
    };
  } catch (error) {
    return { ok: false, problem: signal.aborted ? NO_ANSWER : socketProblem(error, false).message };
  } finally {
    await agent.destroy();
  }
}
