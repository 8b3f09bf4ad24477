import { decodeRecord, type LedgerRecord } from './records.ts';

/** What can be told of a record without reading all of it. */
export type RecordHead = Pick<LedgerRecord, 'kind' | 'sequence'>;

/** Records begin with these two members; the byte before them is their version. */
const HEAD = /^.\{"kind":"([a-z-]+)","sequence":(\d+),/s;
const HEAD_BYTES = 64;

/** Reads the head of a record. Throws LedgerDataProblem where not even that can be read. */
export function recordHeadOf(bytes: Uint8Array): RecordHead {
  const length = Math.min(HEAD_BYTES, bytes.byteLength);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, length).toString('latin1');
  const match = HEAD.exec(text);
  if (match === null) return decodeRecord(bytes);
  return { kind: match[1] as LedgerRecord['kind'], sequence: Number(match[2]) };
}
