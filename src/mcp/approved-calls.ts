import { createHash } from 'node:crypto';
import { ExpiringMap } from '../kit/collections/expiring-map.ts';
import type { Clock } from '../kit/time/clock.ts';
import type { McpMemory } from '../ports/upstreams/mcp-memory.ts';
import { McpProblem } from './client/mcp-problem.ts';

export interface ApprovedCallsDependencies {
  readonly memory: Pick<McpMemory, 'claimApproval'>;
  readonly clock: Clock;
}

/** The result of a call as far as models get it, which is all that is kept of it. */
export interface ResultText {
  readonly text: string;
  readonly isError: boolean;
}

/** An approval of a caller, in the generation that runs its call. */
export interface GivenApproval {
  readonly requestId: string;
  /** The call that it approves: address of the server, name of the tool, arguments. */
  readonly call: readonly string[];
  readonly keyHash: string;
  readonly generationId: string;
  /** False if nothing of the generation may be kept. */
  readonly mayKeep: boolean;
}

/** Results are kept in memory for requests that are sent again. */
const RESULT_MS = 3_600_000;
const MAX_RESULT_CHARACTERS = 16_777_216;

const USED =
  'The call was approved and begun before, and its result is not known any more. It is not run again.';

const UNRECORDABLE =
  'The use of the approval could not be recorded, so the call is not run. Try again later.';

/** Runs each approved call once, also if the request is sent again after a crash. */
export class ApprovedCalls {
  readonly #dependencies: ApprovedCallsDependencies;
  /** Calls that run, by the digests of their approvals. */
  readonly #running = new Map<string, Promise<ResultText>>();
  readonly #results: ExpiringMap<string, ResultText>;

  constructor(dependencies: ApprovedCallsDependencies) {
    this.#dependencies = dependencies;
    this.#results = new ExpiringMap(Number.POSITIVE_INFINITY, {
      clock: dependencies.clock,
      lifetimeMs: RESULT_MS,
      maxSize: () => MAX_RESULT_CHARACTERS,
      sizeOf: ({ text }) => text.length + 1,
    });
  }

  /**
   * The result of the approved call, which is run unless it was before. Rejects with an McpProblem if it was and its
   * result is unknown, and with what `call` rejects with.
   */
  run(approval: GivenApproval, call: () => Promise<ResultText>): Promise<ResultText> {
    const { requestId, keyHash, call: approved } = approval;
    const id = createHash('sha256')
      .update(JSON.stringify([keyHash, requestId, ...approved]))
      .digest('base64url');
    const known = this.#results.get(id);
    if (known !== undefined) return Promise.resolve(known);
    const joined = this.#running.get(id);
    if (joined !== undefined) return joined.catch(notKnown);
    const running = this.#runOnce(id, approval, call);
    this.#running.set(id, running);
    return running.finally(() => this.#running.delete(id));
  }

  async #runOnce(
    id: string,
    { generationId, mayKeep }: GivenApproval,
    call: () => Promise<ResultText>,
  ): Promise<ResultText> {
    const { memory, clock } = this.#dependencies;
    const claim = { id, generationId, atMs: clock.now() };
    const isFirst = await memory.claimApproval(claim).catch(() => {
      throw new McpProblem('refused', UNRECORDABLE);
    });
    if (!isFirst) throw new McpProblem('refused', USED);
    const { text, isError } = await call();
    const result = { text, isError };
    if (mayKeep) this.#results.set(id, result);
    return result;
  }
}

/** The request that ran the call was given up: whether the call has run is not known to another that waits for it. */
function notKnown(error: unknown): never {
  throw error instanceof McpProblem ? error : new McpProblem('refused', USED);
}
