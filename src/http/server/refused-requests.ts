import { type Refusal, type UnparsedRequest, unparsedRow } from '../../gateway/record/refused-row.ts';
import type { RequestFormat } from '../../ir/items.ts';
import { authenticate, type CallerSources, refusedKeyOf } from '../access/authenticate.ts';
import type { HttpDependencies } from '../dependencies.ts';
import type { HttpExchange } from '../exchange/http-exchange.ts';
import { attributionOf } from '../generation/attribution.ts';

/** A generation that is refused before the gateway has it. */
export interface RefusedExchange {
  readonly exchange: HttpExchange;
  readonly format: RequestFormat;
  /** The operator's word in headers. */
  readonly vendor: string;
}

/** Notes a request that is refused before the gateway has it, if its key is known. */
export function noteRefusedExchange(
  refused: RefusedExchange,
  error: unknown,
  { refusals, callers }: Pick<HttpDependencies, 'refusals' | 'callers'>,
): void {
  const { caller, request } = refused.exchange;
  if (caller !== undefined) {
    refusals.note(refusalOf(refused, caller.scopes, caller.key.creatorUserId), error);
    return;
  }
  const key = refusedKeyOf(request, callers);
  if (key === undefined) return;
  const { hash, owner } = key;
  const ofOwner = ({ accountId, workspaceId }: NonNullable<typeof owner>) =>
    refusalOf(refused, { account: accountId, workspace: workspaceId, key: hash }, null);
  if (owner === undefined) refusals.noteKey(hash, ofOwner, error);
  else refusals.note(ofOwner(owner), error);
}

/** Notes a request that is turned away under overload, if its caller was found lately. */
export function noteTurnedAway(
  refused: RefusedExchange,
  error: unknown,
  services: Pick<HttpDependencies, 'refusals' | keyof CallerSources>,
): void {
  try {
    const caller = authenticate(refused.exchange.request, services);
    if (caller instanceof Promise) caller.catch(() => {});
    else services.refusals.note(refusalOf(refused, caller.scopes, caller.key.creatorUserId), error);
  } catch {
    // The key is not valid: its refusal is not worth more time.
  }
}

function refusalOf(
  { exchange, format, vendor }: RefusedExchange,
  scopes: Refusal['scopes'],
  creatorUserId: string | null,
): Refusal {
  const { requestId: id, acceptedAtMs, refusedBody: body } = exchange;
  const request = (): UnparsedRequest => ({
    format,
    acceptedAtMs,
    id,
    creatorUserId,
    attribution: attributionOf(headersOf(exchange), vendor),
    body,
  });
  return { id, scopes, row: () => unparsedRow(request()) };
}

/** By their names in lower case. */
function headersOf({ request: { rawHeaders } }: HttpExchange): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let index = 0; index < rawHeaders.length; index += 2) {
    headers[(rawHeaders[index] as string).toLowerCase()] = rawHeaders[index + 1] as string;
  }
  return headers;
}
