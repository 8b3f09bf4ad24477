/** The context of a trace in a `traceparent` header (W3C Trace Context). */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits: the span of the sender. */
  readonly parentId: string;
  readonly flags: number;
}

const TRACE_PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Undefined if the header is not valid: then the trace begins here. */
export function readTraceParent(header: string): TraceParent | undefined {
  const match = TRACE_PARENT.exec(header);
  if (match === null) return undefined;
  const [, version, traceId = '', parentId = '', flags = '', more] = match;
  // Later versions may have more fields behind these.
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId)) return undefined;
  return { traceId, parentId, flags: Number.parseInt(flags, 16) };
}

/** The lowest flag, the only one that is known: the trace is recorded. */
const SAMPLED = 1;

export function writeTraceParent({ traceId, parentId, flags }: TraceParent): string {
  return `00-${traceId}-${parentId}-0${flags & SAMPLED}`;
}

/** Characters of `tracestate` that must be passed on. */
const MAX_STATE_CHARACTERS = 512;
const MAX_STATE_MEMBERS = 32;

const STATE_MEMBER =
  /^[a-z0-9][_0-9a-z\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** The header, cut at a member to the length that must be passed on; undefined if it is not valid. */
export function readTraceState(header: string): string | undefined {
  const members = header.split(',').map((member) => member.replace(/^[ \t]+|[ \t]+$/g, ''));
  const given = members.filter((member) => member !== '');
  if (given.length === 0 || given.length > MAX_STATE_MEMBERS) return undefined;
  if (!given.every((member) => STATE_MEMBER.test(member))) return undefined;
  let kept = '';
  for (const member of given) {
    const longer = kept === '' ? member : `${kept},${member}`;
    if (longer.length > MAX_STATE_CHARACTERS) break;
    kept = longer;
  }
  return kept === '' ? undefined : kept;
}
