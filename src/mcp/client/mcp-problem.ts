/**
 * Why a server gave no result. `session`: it has forgotten the session; `refused`: a rule of the gateway forbids the
 * call; `rejected`: the server answered with an error.
 */
export type McpReason = 'refused' | 'unreachable' | 'timeout' | 'protocol' | 'session' | 'rejected';

/** A failed exchange with an MCP server. Its message holds no address and no credential. */
export class McpProblem extends Error {
  readonly reason: McpReason;

  constructor(reason: McpReason, message: string) {
    super(message);
    this.name = 'McpProblem';
    this.reason = reason;
  }
}
