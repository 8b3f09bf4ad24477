import { useQuery } from '@tanstack/preact-query';
import { Link } from '../../../address/link.tsx';
import type { GuardrailObject, RoutingMetadata } from '../../../api/contract.ts';
import { useCurrentKey } from '../../../api/current-key.ts';
import { partMeta } from '../../../api/part.ts';
import { ask } from '../../../api/request.ts';
import { count } from '../../../format/numbers.ts';

type Entry = NonNullable<RoutingMetadata['pipeline']>[number];

/** The entries of guardrails. */
export function guardrailEntries(routing: RoutingMetadata | null): readonly Entry[] {
  return (routing?.pipeline ?? []).filter(({ type }) => type.startsWith('guardrail'));
}

const RECEIPT = 'scan-receipt';

/** What guardrails found: their entries without the receipt. */
export function guardrailFindings(routing: RoutingMetadata | null): readonly Entry[] {
  return guardrailEntries(routing).filter(({ name }) => name !== RECEIPT);
}

/** What guardrails scanned and found. Unequal counts mean that something was not scanned. */
export function GuardrailReceipt({
  id,
  entries,
}: {
  readonly id: string;
  readonly entries: readonly Entry[];
}) {
  const data = entries.find(({ name }) => name === RECEIPT)?.data;
  const findings = entries.filter(({ name }) => name !== RECEIPT);
  return (
    <section class="dw-s" id={id}>
      <div class="hd">
        <h2>Guardrail receipt</h2>
      </div>
      {entries.length === 0 && <p class="t3">No guardrail looked at this generation.</p>}
      {data !== undefined && (
        <div class="stack">
          <Meter
            title="Sent"
            nothing="Nothing was sent"
            scanned={data.characters_sent_scanned}
            all={data.characters_sent}
          />
          <Meter
            title="Received"
            nothing="Nothing was received"
            scanned={data.characters_received_scanned}
            all={data.characters_received}
          />
        </div>
      )}
      {findings.length > 0 && (
        <table class="in plain finds">
          <tbody>
            {findings.map(({ name, summary, guardrail_id }, index) => (
              <tr key={`${name} ${index}`}>
                <td>
                  <span class="tag warn">{name}</span>
                </td>
                <td>{summary}</td>
                <td class="num t3">{guardrail_id !== undefined && <GuardrailName id={guardrail_id} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** The name of a guardrail, which opens it; its id for keys that may not read it, and once it is gone. */
function GuardrailName({ id }: { readonly id: string }) {
  const { is_management_key: isManagement } = useCurrentKey();
  const guardrail = useQuery({
    queryKey: ['guardrails', 'name', id],
    meta: partMeta('The name of a guardrail'),
    queryFn: async () => (await ask<{ data: GuardrailObject }>(`/guardrails/${id}`)).data.name,
    enabled: isManagement,
    staleTime: 60_000,
  });
  if (guardrail.data === undefined) return <code>{id}</code>;
  return (
    <Link href={`/guardrails/${id}`} title={id}>
      {guardrail.data}
    </Link>
  );
}

interface MeterProps {
  readonly title: string;
  /** Stands for the figures where there was no text. */
  readonly nothing: string;
  readonly scanned: unknown;
  readonly all: unknown;
}

function Meter({ title, nothing, scanned, all }: MeterProps) {
  const [part, whole] = [Number(scanned ?? 0), Number(all ?? 0)];
  const share = whole === 0 ? 0 : Math.min(100, (100 * part) / whole);
  return (
    <div class={part === whole ? 'meterline' : 'meterline bad'}>
      <span class="t2">{title}</span>
      <svg class="bar k3" aria-hidden="true">
        <rect class="f" width={`${share}%`} height="100%" />
      </svg>
      <span>{whole === 0 ? nothing : `${count(part)} of ${count(whole)} characters scanned`}</span>
    </div>
  );
}
