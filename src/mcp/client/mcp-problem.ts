import type { RpcFault } from '../protocol.ts';

/**
 * Why a server gave no result. `session`: it has forgotten the session; `refused`: a rule of the gateway forbids the
 * call; `unauthorized`: the server refused the credential; `rejected`: it answered with another error.
 */
export type McpReason =
  | 'refused'
  | 'unreachable'
  | 'timeout'
  | 'protocol'
  | 'session'
  | 'unauthorized'
  | 'rejected';

/** A failed exchange with an MCP server. Its message holds no address and no credential. */
export class McpProblem extends Error {
  readonly reason: McpReason;
  /** The error that the server answered with; undefined = there was none to read. */
  readonly fault: RpcFault | undefined;

  constructor(reason: McpReason, message: string, fault?: RpcFault) {
    super(message);
    this.name = 'McpProblem';
    this.reason = reason;
    this.fault = fault;
  }
}
