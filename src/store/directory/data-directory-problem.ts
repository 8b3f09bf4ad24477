/** A data directory that cannot be used. The message names it and says what to do. */
export class DataDirectoryProblem extends Error {
  /** Another process has it locked. */
  readonly inUse: boolean;

  constructor(message: string, inUse: boolean, cause?: unknown) {
    super(message, { cause });
    this.name = 'DataDirectoryProblem';
    this.inUse = inUse;
  }
}

/** Whether opening failed because another process has the directory locked. */
export function isDirectoryInUse(reason: unknown): boolean {
  return reason instanceof DataDirectoryProblem && reason.inUse;
}
