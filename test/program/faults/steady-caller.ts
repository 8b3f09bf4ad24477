import { setTimeout as sleep } from 'node:timers/promises';
import type { TestGateway } from '../../kit/gateway-harness.ts';

/** Between two requests of a caller, milliseconds. */
const PAUSE_MS = 20;

/** Asks a gateway one request after the other until it is stopped; counts answers and the longest time of one. */
export class SteadyCaller {
  answered = 0;
  longestMs = 0;
  /** Statuses other than 200. */
  readonly refused: number[] = [];
  /** Bodies of those answers, each once. */
  readonly reasons = new Set<string>();
  #isStopped = false;
  readonly #run: Promise<void>;

  /** `key`: whose requests they are; by default the key of the gateway. */
  constructor(gateway: TestGateway, key = gateway.apiKey) {
    this.#run = this.#call(gateway, key);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#run;
  }

  async #call(gateway: TestGateway, key: string): Promise<void> {
    const messages = [{ role: 'user', content: 'Hello' }];
    while (!this.#isStopped) {
      const beganAt = performance.now();
      const body = { model: 'simulator/standard', messages };
      const response = await gateway.post('/chat/completions', body, { authorization: `Bearer ${key}` });
      const text = await response.text();
      this.longestMs = Math.max(this.longestMs, performance.now() - beganAt);
      if (response.status === 200) this.answered += 1;
      else {
        this.refused.push(response.status);
        this.reasons.add(text);
      }
      await sleep(PAUSE_MS);
    }
  }
}
