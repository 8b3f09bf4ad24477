/** Timeouts of calls to a provider, milliseconds. */
export interface Timeouts {
  readonly connect: number;
  readonly firstByte: number;
  readonly idle: number;
  readonly total: number;
}
